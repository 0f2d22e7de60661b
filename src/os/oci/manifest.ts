/** Reads manifests and indexes of the OCI image specification and those of Docker. Pure. */
import { OsError } from '../errors.ts';

export interface OciDescriptor {
  readonly digest: string;
  readonly size: number;
  readonly mediaType: string;
}

export interface OciPlatform {
  readonly os: string;
  readonly arch: string;
}

export type OciDocument =
  | { readonly type: 'Manifest'; readonly layers: readonly OciDescriptor[] }
  | { readonly type: 'Index'; readonly manifests: readonly IndexedManifest[] };

export interface IndexedManifest extends OciDescriptor {
  /** Undefined: the manifest is for every platform. */
  readonly platform: OciPlatform | undefined;
}

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const MEDIA_TYPES: readonly string[] = [
  OCI_MANIFEST,
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];

export const MANIFEST_ACCEPT: string = MEDIA_TYPES.join(', ');

/** Parses a document whose digest was verified. */
export function parseOciDocument(text: string, where: string): OciDocument {
  const document = parseObject(text);
  if (Array.isArray(document['layers'])) {
    return { type: 'Manifest', layers: document['layers'].map((each) => descriptorOf(each, where)) };
  }
  if (!Array.isArray(document['manifests'])) throw badManifest(where);
  return {
    type: 'Index',
    manifests: document['manifests'].map((each: unknown) => ({
      ...descriptorOf(each, where),
      platform: platformOf(each),
    })),
  };
}

/** Returns the manifests of an index that may have the content for a platform, the most specific ones first. */
export function manifestsFor(
  manifests: readonly IndexedManifest[],
  { os, arch }: OciPlatform,
): readonly IndexedManifest[] {
  const specific = manifests.filter(({ platform }) => platform?.os === os && platform.arch === arch);
  return [...specific, ...manifests.filter(({ platform }) => platform === undefined)];
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function descriptorOf(value: unknown, where: string): OciDescriptor {
  const { digest, size, mediaType } = asObject(value);
  if (typeof digest !== 'string' || typeof size !== 'number') throw badManifest(where);
  return { digest, size, mediaType: typeof mediaType === 'string' ? mediaType : '' };
}

function platformOf(value: unknown): OciPlatform | undefined {
  const { os, architecture } = asObject(asObject(value)['platform']);
  return typeof os === 'string' && typeof architecture === 'string' ? { os, arch: architecture } : undefined;
}

function badManifest(where: string): OsError {
  return new OsError('Download', `${where} is neither a manifest nor an index`, {
    where,
    hint: 'name a manifest or an index of an OCI image or artifact by its digest',
  });
}
