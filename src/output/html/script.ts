/** Copying, a roving focus over what is drawn, and the panel with the evidence. Strings come by textContent only. */
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
  const panel = document.getElementById('panel');
  const drawn = [...document.querySelectorAll('.item')];
  document.documentElement.classList.add('scripted');

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
})();
`;
