// Evaluated within a page of Grafana 10, whose value it is: what is to be seen of each panel.
;(() => {
  const isPainted = canvas =>
    canvas.width * canvas.height > 0 &&
    canvas
      .getContext('2d')
      .getImageData(0, 0, canvas.width, canvas.height)
      .data.some(part => part !== 0)

  return [...document.querySelectorAll('[data-panelid]')].map(panel => {
    const header = panel.querySelector('[data-testid="header-container"]')
    return {
      id: Number(panel.getAttribute('data-panelid')),
      isLoading: panel.querySelector('[aria-label="Panel loading bar"]') !== null,
      hasFailed: panel.querySelector('[aria-label="Panel status"]') !== null,
      isPainted: [...panel.querySelectorAll('canvas')].some(isPainted),
      // The title stands there before anything else does.
      text: panel.textContent.slice(header === null ? 0 : header.textContent.length).trim(),
    }
  })
})()
