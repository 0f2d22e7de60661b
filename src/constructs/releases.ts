/** The releases of a component in one object, so that a new version is one entry. `kubenode component add` and `update` edit it. */
import type { MachineComponentSpec } from './generated/types.ts';

type Artifacts = NonNullable<MachineComponentSpec['artifacts']>;
type Artifact = Artifacts[number];
type ArtifactArch = Exclude<Artifact['arch'], 'any'>;

/** The sha256 of the file for each architecture that the version has. */
export type ReleaseDigests = Readonly<Partial<Record<ArtifactArch, string>>> & {
  /** URL template of this version, if it differs from that of the others. */
  readonly url?: string;
};

export interface ComponentReleasesProps extends Partial<Pick<Artifact, 'format'>> {
  /** Name of the component, the same in every version. */
  readonly component: string;
  /** URL of the files. `{version}` and `{arch}` are replaced. */
  readonly url: string;
  /** URL of the publisher's checksum file, which `kubenode component` compares with. `{version}`, `{arch}` and `{url}` are replaced. */
  readonly checksums?: string;
  /** Links from the host into the archive. `{version}` and `{arch}` are replaced in `from`: some archives have a folder with both. */
  readonly install?: Artifact['install'];
  /** Every version that machines can run or roll back to. */
  readonly versions: Readonly<Record<string, ReleaseDigests>>;
}

/** One version of a component, for the spec of its MachineComponent. */
export interface ComponentRelease {
  readonly component: string;
  readonly version: string;
  readonly artifacts: Artifacts;
}

const ARCHITECTURES: readonly ArtifactArch[] = ['amd64', 'arm64'];

/** Returns the releases in the order of the object. */
export function componentReleases(props: ComponentReleasesProps): readonly ComponentRelease[] {
  const { component, versions } = props;
  const releases = Object.entries(versions).map(([version, digests]) => ({
    component,
    version,
    artifacts: ARCHITECTURES.flatMap((arch) => artifactOf(props, { version, arch }, digests)),
  }));
  requireOwnUrls(releases);
  return releases;
}

/** One URL has one content: a template without {version} or {arch} would send machines to the file of another one. */
function requireOwnUrls(releases: readonly ComponentRelease[]): void {
  const known = new Map<string, { readonly sha256: string; readonly name: string }>();
  for (const { component, version, artifacts } of releases) {
    for (const { arch, url, sha256 } of artifacts) {
      const name = `${version} for ${arch}`;
      const before = known.get(url) ?? { sha256, name };
      known.set(url, before);
      if (before.sha256 === sha256) continue;
      throw new Error(
        `component ${component}: ${before.name} and ${name} have the same URL and different digests: expected {version} and {arch} in url, got ${url}`,
      );
    }
  }
}

interface ReleasePlatform {
  readonly version: string;
  readonly arch: ArtifactArch;
}

function artifactOf(
  { component, url, format, install }: ComponentReleasesProps,
  platform: ReleasePlatform,
  digests: ReleaseDigests,
): Artifacts {
  const { arch } = platform;
  const sha256 = digests[arch];
  if (sha256 === undefined) return [];
  const filled = fill(digests.url ?? url, platform);
  const links = install?.map((link) => ({ ...link, from: fill(link.from, platform) }));
  const unknown = [filled, ...(links ?? []).map(({ from }) => from)].flatMap(
    (text) => text.match(/\{\w*\}/) ?? [],
  );
  if (unknown[0] !== undefined) {
    throw new Error(
      `component ${component}: expected {version} and {arch} in url and install, found ${unknown[0]}`,
    );
  }
  return [
    { os: 'linux', arch, url: filled, sha256, ...(format && { format }), ...(links && { install: links }) },
  ];
}

function fill(template: string, { version, arch }: ReleasePlatform): string {
  return template.replaceAll('{version}', version).replaceAll('{arch}', arch);
}
