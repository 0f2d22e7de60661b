/** Prints what `kubenode component add` and `update` did, or what to write by hand. */
import type { ReleaseDigests } from '../../../constructs/releases.ts';
import { formatJson } from '../../../views/text/json.ts';
import { formatYaml } from '../../../views/text/yaml.ts';
import type { Io } from '../../io.ts';
import type { OutputFormat } from '../../output.ts';
import { findInCatalog } from './catalog/catalog.ts';
import { fillUrlTemplate } from './catalog/template.ts';
import type { ReleaseFile } from './download/release-files.ts';
import { DEFAULT_STYLE, formatEntry } from './source/entry.ts';
import type { EditRefusal } from './source/find.ts';
import type { SourceEdit } from './source/plan.ts';
import type { ReleaseSource } from './source/release-source.ts';

export interface ChangeReport {
  readonly component: string;
  readonly version: string;
  readonly files: readonly ReleaseFile[];
  readonly digests: ReleaseDigests;
  readonly source: ReleaseSource;
  readonly edits: readonly SourceEdit[];
  readonly diff: string;
  readonly isDryRun: boolean;
  /** The reason why nothing was changed. */
  readonly refused?: EditRefusal;
}

export function printChange(io: Io, format: OutputFormat, report: ChangeReport): void {
  if (format === 'json') io.out(formatJson(dataOf(report)));
  else if (format === 'yaml') io.out(formatYaml(dataOf(report)));
  else printText(io, report);
}

function printText(io: Io, report: ChangeReport): void {
  for (const file of report.files) io.err(`${formatFile(file, signatureOf(report, file))}\n`);
  if (report.refused) {
    // A file that its publisher replaced must not get into git by copy and paste.
    if (!report.refused.isDigestChanged) io.out(formatByHand(report));
  } else if (report.diff === '') {
    io.err(`no change: ${report.component} ${report.version} is declared with these digests\n`);
  } else {
    io.out(report.diff);
    for (const { path, because } of report.edits) {
      io.err(`${report.isDryRun ? 'would change' : 'changed'} ${path}: ${because}\n`);
    }
  }
}

function dataOf(report: ChangeReport): object {
  const { component, version, files, edits, diff, refused } = report;
  return {
    component,
    version,
    state: stateOf(report),
    files: files.map(({ checkedBy, ...file }) => ({
      ...file,
      checkedBy: checkedBy ?? null,
      uncheckedSignature: signatureOf(report, file) ?? null,
    })),
    changes: edits.map(({ path, because }) => ({ path, because })),
    diff,
    ...(refused && { because: refused.because }),
    ...(refused && !refused.isDigestChanged && { byHand: formatByHand(report) }),
  };
}

function stateOf({ refused, diff, isDryRun }: ChangeReport): string {
  if (refused) return 'Refused';
  if (diff === '') return 'Unchanged';
  return isDryRun ? 'Planned' : 'Changed';
}

/** Returns where the publisher signs the file. Undefined: no signature is known. */
function signatureOf(
  { component, version, source }: ChangeReport,
  { arch, url }: Pick<ReleaseFile, 'arch' | 'url'>,
): string | undefined {
  const catalog = findInCatalog(component);
  if (catalog?.signature === undefined || catalog.url !== source.url) return undefined;
  return fillUrlTemplate(catalog.signature, { version, arch, url });
}

export function formatFile(
  { arch, url, sizeBytes, sha256, checkedBy }: ReleaseFile,
  signature: string | undefined,
): string {
  const checked =
    checkedBy === undefined
      ? 'not compared: no checksum file of the publisher is known, name one with --checksum-url'
      : `verified: the same sha256 is in ${checkedBy}`;
  const signed =
    signature === undefined
      ? 'no signature of the publisher is known'
      : `the signature of the publisher was not checked: ${signature}`;
  return `${arch}: ${url}\n  ${sizeBytes} bytes, sha256 ${sha256}\n  ${checked}\n  ${signed}`;
}

/** Returns the whole declaration, which shows a person where the entry belongs in a repository of another form. */
export function formatByHand({ component, version, digests, source }: ChangeReport): string {
  const catalog = findInCatalog(component);
  const isKnown = catalog?.url === source.url;
  const { url: _, ...own } = digests;
  return [
    ...(isKnown && catalog.programs ? [`// In the archive: ${catalog.programs.join(', ')}.`] : []),
    `const releases = componentReleases({`,
    `  component: '${component}',`,
    `  url: '${source.url}',`,
    ...(source.checksums !== undefined && !isKnown ? [`  checksums: '${source.checksums}',`] : []),
    ...(isKnown && catalog.format !== 'Raw' ? [`  format: '${catalog.format}',`] : []),
    `  versions: {`,
    `${formatEntry(version, own, DEFAULT_STYLE)},`,
    `  },`,
    `});`,
    '',
  ].join('\n');
}
