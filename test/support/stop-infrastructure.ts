export default function stopInfrastructure(): void {}
