/** Edits of the files of the demo repository. Pure. */

const SELECTED = /(?<before>\bweb: ')(?<version>[^']+)(?=')/;
/** The releases that the template brings end with this one. */
const LAST_RELEASE = "  { version: '2.0.0',";

/** Undefined: the file has another form than that of the demo. */
export function selectedVersion(versions: string): string | undefined {
  return SELECTED.exec(versions)?.groups?.['version'];
}

export function selectVersion(versions: string, version: string): string {
  return versions.replace(SELECTED, `$<before>${version}`);
}

/** An empty greeting makes the web server answer each request with an error. */
export function addRelease(web: string, version: string, greeting: string): string {
  if (web.includes(`version: '${version}'`)) return web;
  return web.replace(LAST_RELEASE, `  { version: '${version}', greeting: '${greeting}' },\n${LAST_RELEASE}`);
}

/**
 * The number of commits only grows, so that no version is used twice, whatever was reverted. The first commit of the tour is the
 * second of the repository: versions 1.1.0 and 2.0.0 stay for docs/guides/demo.md, which can be followed after the tour.
 */
export function nextVersion(major: number, commits: number): string {
  return `${major}.${commits + 1}.0`;
}

const FIRST_CLUSTER = "  { name: 'test',";

export interface HostedDeclaration {
  readonly name: string;
  readonly version: string;
  readonly machines: number;
}

/** Declares a cluster that the hub hosts, before the others. It needs no confirmation to be deleted: git decides. */
export function declareHostedCluster(
  clusters: string,
  { name, version, machines }: HostedDeclaration,
): string {
  const hosted = `hosted: { driver: 'process', version: '${version}' }, deletion: { protection: false }`;
  const line = `  { name: '${name}', environment: 'test', ${hosted}, machines: ${machines}, zones: ['east'] },`;
  return clusters.replace(FIRST_CLUSTER, `${line}\n${FIRST_CLUSTER}`);
}
