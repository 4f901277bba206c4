export default function startInfrastructure(): void {}
