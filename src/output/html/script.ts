/**
 * The page's script: zoom, a roving focus over what is drawn, and the panel with the evidence. The picture and
 * the tables are complete without it. Strings reach the page by textContent only.
 */
export const script = `
'use strict';
(() => {
  for (const button of document.querySelectorAll('[data-copy]')) {
    const command = button.previousElementSibling;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(command);
      }
    });
  }
  if (!document.getElementById('items')) return;
  const items = JSON.parse(document.getElementById('items').textContent);
  const viewport = document.querySelector('.viewport');
  const lanes = viewport.querySelector('.lanes');
  const panel = document.getElementById('panel');
  const drawn = [...viewport.querySelectorAll('.item')];
  const buttons = Object.fromEntries([...document.querySelectorAll('[data-zoom]')].map((b) => [b.dataset.zoom, b]));
  document.documentElement.classList.add('scripted');

  let zoom = 1;
  const setZoom = (wanted, anchor = viewport.clientWidth / 2) => {
    const next = Math.min(64, Math.max(1, wanted));
    const share = (viewport.scrollLeft + anchor) / lanes.offsetWidth;
    zoom = next;
    document.documentElement.style.setProperty('--zoom', String(zoom));
    viewport.scrollLeft = share * lanes.offsetWidth - anchor;
    buttons.out.disabled = buttons.reset.disabled = zoom === 1;
    buttons.in.disabled = zoom === 64;
  };
  const zooms = { in: () => setZoom(zoom * 2), out: () => setZoom(zoom / 2), reset: () => setZoom(1) };
  for (const [name, button] of Object.entries(buttons)) button.addEventListener('click', zooms[name]);

  viewport.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    setZoom(zoom * Math.exp(-event.deltaY / 300), event.clientX - viewport.getBoundingClientRect().left);
  }, { passive: false });

  const element = (name, text, cls) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (cls) made.className = cls;
    return made;
  };
  const tell = (target) => {
    const { title, lines, seen } = items[Number(target.dataset.item)];
    const list = document.createElement('ul');
    list.append(...lines.map((line) => element('li', line)), ...seen.map((line) => element('li', line, 'seen')));
    panel.replaceChildren(element('h3', title), list);
  };

  const rove = (to) => {
    for (const one of drawn) one.setAttribute('tabindex', one === to ? '0' : '-1');
  };
  rove(drawn[0]);
  drawn.forEach((one, index) => {
    one.addEventListener('pointerenter', () => tell(one));
    one.addEventListener('focus', () => { rove(one); tell(one); });
    one.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const next = event.key === 'Home' ? drawn[0] : event.key === 'End' ? drawn.at(-1) : step && drawn[index + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
  });
  viewport.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const name = { '+': 'in', '=': 'in', '-': 'out', '0': 'reset' }[event.key];
    if (!name) return;
    event.preventDefault();
    zooms[name]();
  });
  setZoom(1);
})();
`;
