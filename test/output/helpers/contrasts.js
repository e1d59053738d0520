/** The texts of a page with a contrast below 4.5 : 1 (WCAG 2), as `2.10 text`. It runs in the browser. */
(() => {
  const parse = (colour) => {
    const [r = 0, g = 0, b = 0, a = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
    return [r, g, b, a];
  };
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (element) => {
    const bar = element.closest('.item')?.querySelector('.solid');
    if (element.classList.contains('label') && bar) return parse(getComputedStyle(bar).fill);
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  const texts = [...document.querySelectorAll('body *')].filter(
    (element) =>
      !element.closest('script, title, defs') &&
      element.getClientRects().length > 0 &&
      [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''),
  );
  const low = texts.flatMap((element) => {
    const style = getComputedStyle(element);
    const [a, b] = [parse(element instanceof SVGElement ? style.fill : style.color), behind(element)].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return ratio < 4.5 ? [ratio.toFixed(2) + ' ' + element.textContent.slice(0, 40)] : [];
  });
  return low;
})();
