export type Redactor = ReturnType<typeof createRedactor>;

const mask = '<redacted>';

/**
 * Keeps credentials out of everything that is printed: known secrets by their value, unknown ones by their form. Both
 * are needed, because a server or a proxy may echo what it was sent.
 */
export function createRedactor() {
  const secrets = new Set<string>();
  return {
    /** Hides this value and its base64 from now on. Ignores short values: no secrets, and they would garble the text. */
    hide: (secret: string | undefined): void => {
      const given = secret?.trim() ?? '';
      if (given.length < 4) return;
      secrets.add(given);
      // As it is sent: half a surrogate pair cannot be encoded, and is replaced.
      const value = given.toWellFormed();
      secrets.add(value);
      secrets.add(Buffer.from(value).toString('base64'));
      secrets.add(encodeURIComponent(value));
    },
    clean: (text: string): string => {
      let safe = text;
      for (const secret of secrets) safe = safe.replaceAll(secret, mask);
      return secretPatterns.reduce((known, [form, instead]) => known.replace(form, instead), safe);
    },
  };
}

/** A URL without user, password, query and fragment. If a slash is missing, the password is in the path. */
export function showUrl(url: string | URL): string {
  const parsed = typeof url !== 'string' ? url : URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) return '<not a URL>';
  return `${parsed.protocol}//${parsed.host}${parsed.pathname === '/' || parsed.pathname.includes('@') ? '' : parsed.pathname}`;
}

const secretPatterns: readonly (readonly [RegExp, string])[] = [
  // A scheme and a word with an upper-case letter, a digit or a symbol: "basic authentication" is no secret.
  [/\b([Bb]earer|[Bb]asic|[Nn]egotiate)\s+(?=\S*[A-Z0-9=._])[A-Za-z0-9+/=._~-]{4,}/g, `$1 ${mask}`],
  [/(\w+:\/\/)[^\s/]+@/g, `$1${mask}@`],
  [
    /([?&](?:access_token|id_token|refresh_token|token|password|client_secret|code|sig|signature)=)[^&\s"']+/gi,
    `$1${mask}`,
  ],
  [/-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g, mask],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?/g, mask],
];
