/** What the name of an image shows: its base system, and the command that its Dockerfile sets. */
import imageRows from './data/images.json' with { type: 'json' };

export interface Base {
  /** Undefined if the image does not show it. */
  name?: string;
  /** The shells that /bin/sh may be. */
  sh: readonly string[];
}

interface ImageRow {
  image: string;
  base?: string;
  entry?: readonly string[];
  cmd?: readonly string[];
  /** STOPSIGNAL, where it is not SIGTERM. */
  stop?: string;
}

const shellsOf: Record<string, readonly string[]> = {
  debian: ['dash'],
  ubuntu: ['dash'],
  alpine: ['ash'],
  busybox: ['ash'],
  redhat: ['bash'],
};

/** Tags and names of images that show their base system. */
const shown: readonly (readonly [RegExp, string])[] = [
  [/alpine|wolfi|chainguard/, 'alpine'],
  [/busybox/, 'busybox'],
  [/ubuntu|jammy|focal|noble|bionic/, 'ubuntu'],
  [/debian|slim|bookworm|bullseye|buster|trixie|stretch/, 'debian'],
  [
    /\b(ubi\d*|rhel\d*|centos|rocky(linux)?|alma(linux)?|fedora|amazonlinux|oraclelinux|ol\d|al20\d\d|suse|leap|sles)\b/,
    'redhat',
  ],
];

const rows = new Map((imageRows as ImageRow[]).map((row) => [row.image, row]));

/** Official images only: `node`, `docker.io/library/node`, a mirror's `library/node`. */
function rowOfImage(image: string): ImageRow | undefined {
  const path = image.split('@', 1)[0]?.replace(/:[^/:]*$/, '') ?? '';
  const name = path.replace(/^(docker\.io|index\.docker\.io)\//, '').replace(/^(.*\/)?library\//, '');
  return rows.get(name);
}

export function baseOf(image: string): Base {
  const [, tag = ''] = /:([^/:@]*)(@|$)/.exec(image) ?? [];
  const official = rowOfImage(image);
  const name =
    [tag, image.split('@', 1)[0] ?? ''].flatMap(
      (text) => shown.find(([pattern]) => pattern.test(text))?.[1] ?? [],
    )[0] ?? official?.base;
  return { name, sh: (name === undefined ? undefined : shellsOf[name]) ?? ['dash', 'ash', 'bash'] };
}

/** The ENTRYPOINT and CMD of a well-known image, from its Dockerfile. */
export function commandOfImage(image: string): { entry?: readonly string[]; cmd?: readonly string[] } {
  const { entry, cmd } = rowOfImage(image) ?? {};
  return { entry, cmd };
}
