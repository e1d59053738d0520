/** What the name of an image shows: its base system, the command that its Dockerfile sets, and its STOPSIGNAL. Pure. */
import data from './data/images.json' with { type: 'json' };

/** `docker.io/library/nginx` and `1.27` of `docker.io/library/nginx:1.27@sha256:…`. */
const partsOf = (image: string): string[] => /^([^@]*?)(?::([^/:@]*))?(?:@|$)/.exec(image)?.slice(1) ?? [];

export const imageName = (image: string): string => (partsOf(image)[0] ?? '').split('/').at(-1)?.toLowerCase() ?? '';

/** What its Dockerfile says, by its name on Docker Hub or in a mirror of that: another registry's `nginx` may be anything. */
export function rowOfImage(image: string) {
  const hub = /^((index\.)?docker\.io\/|mirror\.gcr\.io\/|public\.ecr\.aws\/docker\/(?=library\/))?(library\/)?/;
  const [name, tag = ''] = partsOf(image.replace(hub, ''));
  return data.images.find((row) => row.image === name && new RegExp(row.tag ?? '').test(tag));
}

/** The shells that /bin/sh may be: by the tag, else by the name, else by the Dockerfile of a well-known image and a usual tag. */
export function shellsOf(image: string): readonly string[] {
  const shown = [partsOf(image)[1] ?? '', image.split('@', 1)[0]?.slice(-300) ?? ''];
  const found = shown.flatMap((text) => data.bases.find(({ shows }) => new RegExp(shows).test(text)) ?? [])[0];
  const isUsual = shown[0]?.split(/[\d._+-]+/).every((word) => ['', ...data.usualWords].includes(word));
  const base = found ?? data.bases.find(({ name }) => isUsual && name === rowOfImage(image)?.base);
  return base ? [base.sh] : [...new Set(data.bases.map(({ sh }) => sh))];
}

/** The STOPSIGNAL of a well-known image; undefined for SIGTERM and for other images: the API does not show it (SIGNALS.md §2 S8). */
export const stopSignalOfImage = (image = ''): string | undefined => rowOfImage(image)?.stop;
