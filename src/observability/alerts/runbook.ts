/** Where the runbooks are published: the folder docs of this repository. */
export const DOCS_URL = 'https://kubenode.dev/docs/';

/** Returns the address of a section of docs/runbooks/alerts.md. */
export function runbookUrl(section: string): string {
  return `${runbookPage('alerts')}#${section.toLowerCase()}`;
}

/** Returns the address of a page of docs/runbooks. */
export function runbookPage(name: string): string {
  return `${DOCS_URL}runbooks/${name}.md`;
}
