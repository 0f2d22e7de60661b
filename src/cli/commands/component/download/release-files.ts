/** Downloads the files of a release, and compares each with what its publisher states. */
import { messageOf } from '../../../../os/errors.ts';
import { HttpFailure } from '../../../../os/net/http.ts';
import { CliError, EXIT } from '../../../errors.ts';
import { fillUrlTemplate, type ReleaseArch } from '../catalog/template.ts';
import { checksumIn } from './checksum-file.ts';
import { digestOfUrl, type FileDigest } from './digest.ts';
import { type FetchSettings, fileNameOf, readText } from './http.ts';

export interface ReleaseFilesRequest {
  readonly component: string;
  readonly version: string;
  readonly architectures: readonly ReleaseArch[];
  /** URL template of the files, and of the checksum file if there is one. */
  readonly url: string;
  readonly checksums: string | undefined;
}

export interface ReleaseFile extends FileDigest {
  readonly arch: ReleaseArch;
  readonly url: string;
  /** The checksum file that states the same digest. Undefined: nothing was compared. */
  readonly checkedBy: string | undefined;
}

export interface ReleaseSettings extends FetchSettings {
  readonly onStep: (step: string) => void;
}

/** Checksum files list the files of one release. */
const MAX_CHECKSUM_BYTES = 1024 * 1024;
const NOT_FOUND = 404;

/** One after the other: the connection is the bottleneck, and the first failure ends it. */
export async function downloadReleaseFiles(
  request: ReleaseFilesRequest,
  settings: ReleaseSettings,
): Promise<readonly ReleaseFile[]> {
  const files: ReleaseFile[] = [];
  for (const arch of request.architectures) files.push(await downloadReleaseFile(request, arch, settings));
  return files;
}

async function downloadReleaseFile(
  { component, version, url: template, checksums }: ReleaseFilesRequest,
  arch: ReleaseArch,
  settings: ReleaseSettings,
): Promise<ReleaseFile> {
  const url = fillUrlTemplate(template, { version, arch });
  const what = `${component} ${version} for ${arch}`;
  const digest = await digestOfUrl(url, {
    ...settings,
    isCompared: checksums !== undefined,
    onBytes: (bytes) => settings.onStep(`downloading ${what}: ${(bytes / 1e6).toFixed(1)} MB`),
  }).catch((error: unknown) => {
    throw downloadError(error, `${what} was not downloaded`, url);
  });
  if (checksums === undefined) return { arch, url, ...digest, checkedBy: undefined };
  const checkedBy = fillUrlTemplate(checksums, { version, arch, url });
  const published = await readText(checkedBy, MAX_CHECKSUM_BYTES, settings).catch((error: unknown) => {
    throw downloadError(error, `the checksum file of ${what} was not read`, checkedBy);
  });
  compareDigests(digest, checksumIn(published, fileNameOf(url)), { what, checkedBy });
  return { arch, url, ...digest, checkedBy };
}

interface Comparison {
  readonly what: string;
  readonly checkedBy: string;
}

function compareDigests(
  { sha256 }: FileDigest,
  expected: string | undefined,
  { what, checkedBy }: Comparison,
): void {
  if (expected === sha256) return;
  throw expected === undefined
    ? new CliError(`the checksum file does not list ${what} with one sha256`, {
        where: checkedBy,
        hint: 'check the file: it may be the page of a proxy. Nothing was changed',
        exitCode: EXIT.badInput,
      })
    : new CliError(
        `wrong checksum of ${what}: its publisher states sha256 ${expected}, downloaded was ${sha256}`,
        {
          where: checkedBy,
          hint: 'do not use the file; check the mirror or proxy in between. Nothing was changed',
        },
      );
}

function downloadError(error: unknown, what: string, where: string): unknown {
  if (!(error instanceof HttpFailure)) return error;
  const isMissing = error.status === NOT_FOUND;
  return new CliError(`${what}: ${messageOf(error)}`, {
    where,
    hint: isMissing
      ? 'check version and URL; for a release of one architecture only, name it with --arch. Nothing was changed'
      : 'check the network, or set HTTPS_PROXY or a mirror (docs/guides/component-versions.md), then run the command again. Nothing was changed',
    exitCode: isMissing ? EXIT.badInput : EXIT.unavailable,
    cause: error,
  });
}
