/** URL templates of releases: `{version}`, `{arch}`, and `{url}` for what is published beside a file. Pure. */

export const RELEASE_ARCHITECTURES = ['amd64', 'arm64'] as const;
export type ReleaseArch = (typeof RELEASE_ARCHITECTURES)[number];

export interface TemplateValues {
  readonly version: string;
  readonly arch: ReleaseArch;
  /** The URL of the file itself. */
  readonly url?: string;
}

export function fillUrlTemplate(template: string, { version, arch, url = '' }: TemplateValues): string {
  return template.replaceAll('{url}', url).replaceAll('{version}', version).replaceAll('{arch}', arch);
}

/** The reason why the text is not a template of the URLs of files. */
export function templateProblem(template: string): string | undefined {
  const unknown = /\{(?!version\}|arch\}|url\})[^}]*\}?/.exec(template)?.[0];
  if (unknown !== undefined) return `expected {version} and {arch} as placeholders, found ${unknown}`;
  const odd = /[^\w\-.~:/?#@!&()*+,;=%{}]/.exec(template)?.[0];
  if (odd !== undefined) return `a URL in TypeScript must not contain ${JSON.stringify(odd)}: ${template}`;
  return urlProblem(fillUrlTemplate(template, { version: '1.0.0', arch: 'amd64' }));
}

function urlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return `expected a URL that begins with https:// or http://, got ${JSON.stringify(text)}`;
  }
  if (url.username !== '' || url.password !== '') return 'a URL in git must not contain a user or a password';
  return undefined;
}
