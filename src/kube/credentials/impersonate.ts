import type { OutgoingHttpHeaders } from 'node:http';
import type { Impersonation } from '../kubeconfig/kubeconfig.ts';

/** The headers of "User impersonation" (Kubernetes documentation); a group is a header of its own each time. */
export function impersonationHeaders(as: Impersonation | undefined): OutgoingHttpHeaders {
  if (as?.user === undefined) return {};
  const headers: OutgoingHttpHeaders = { 'Impersonate-User': as.user };
  if (as.uid !== undefined) headers['Impersonate-Uid'] = as.uid;
  if (as.groups.length > 0) headers['Impersonate-Group'] = [...as.groups];
  for (const [key, value] of as.extra) {
    const name = `Impersonate-Extra-${escapeKey(key)}`;
    headers[name] = [...((headers[name] as string[] | undefined) ?? []), value];
  }
  return headers;
}

/** client-go headerKeyEscape: whatever a header's name cannot hold, and `%`, becomes %XX of its UTF-8 bytes. */
function escapeKey(key: string): string {
  return [...Buffer.from(key)]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      return /[!#$&'*+\-.^_`|~0-9A-Za-z]/.test(letter)
        ? letter
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
