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

/** Returns why the text is not a template of the URLs of files. */
export function templateProblem(template: string): string | undefined {
  return placeholderProblem(template, ['version', 'arch']) ?? urlProblem(fillUrlTemplate(template, SAMPLE));
}

/** Returns why the text is not a template of the URLs of checksum files. */
export function checksumTemplateProblem(template: string): string | undefined {
  const problem =
    placeholderProblem(template, ['version', 'arch', 'url']) ??
    urlProblem(fillUrlTemplate(template, { ...SAMPLE, url: 'https://example.com/file' }));
  return problem && `the URL of the checksum file: ${problem}`;
}

const SAMPLE = { version: '1.0.0', arch: 'amd64' } as const;

function placeholderProblem(template: string, names: readonly string[]): string | undefined {
  const found = [...template.matchAll(/\{([^}]*)\}?|\}/g)];
  const unknown = found.find(([text, name = '']) => text !== `{${name}}` || !names.includes(name))?.[0];
  const known = names.map((name) => `{${name}}`);
  if (unknown !== undefined) {
    return `expected ${known.slice(0, -1).join(', ')} and ${known.at(-1)} as placeholders, found ${unknown}`;
  }
  const odd = /[^\w\-.~:/?#@!&()*+,;=%{}]/.exec(template)?.[0];
  return odd && `a URL in TypeScript must not contain ${JSON.stringify(odd)}: ${template}`;
}

function urlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return `expected a URL that begins with https:// or http://, got ${JSON.stringify(text)}`;
  }
  if (url.username !== '' || url.password !== '') return 'a URL in git must not contain a user or a password';
  const percent = /%(?![0-9a-f]{2}).{0,2}/i.exec(url.pathname)?.[0];
  return percent && `expected two hexadecimal digits after "%", found ${percent}: ${text}`;
}
