/**
 * Reads the files of a KubeadmConfig, and what the kubeadm bootstrap provider makes of each on a host. What is not exactly known is a reason
 * instead: a file is covered only if a component writes the same bytes, mode and owner. v1beta1 and v1beta2 have the same fields. Pure.
 */
import { digestOf } from '../../../../../kube/objects/digest.ts';
import { isRecord, type JsonRecord, textAt, valueAt } from '../../../../../kube/objects/json.ts';

/** Describes a file on a host. */
export interface HostFile {
  readonly content: string;
  readonly mode: number;
  readonly owner: string;
}

export interface BootstrapFile {
  /** The digest of all entries with the path. */
  readonly digest: string;
  /** The file, or why it is not known. */
  readonly host: HostFile | string;
}

/** The files by path. */
export type BootstrapFiles = ReadonlyMap<string, BootstrapFile>;

/** Those of cloud-init for a file that names none. */
const DEFAULT_OWNER = 'root:root';
const DEFAULT_MODE = '0644';
/** The path is written to YAML without quotes: other characters may be read as something else. */
const PLAIN_PATH = /^\/[\w./@+-]+$/;
const PERMISSIONS = /^[0-7]{3,4}$/;
const BASE64 = /^[\d+/A-Za-z]*={0,2}$/;
// Control characters and line ends that YAML reads differently. Tab and line feed are text.
const NOT_PLAIN = /[^\t\n\u0020-\u007E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]/;

/** The provider writes "## template: jinja" above its document. */
const JINJA = /\{[{%#]/;

/** `spec` is that of a KubeadmConfig, or `spec.template.spec` of its template. */
export function bootstrapFiles(spec: unknown): BootstrapFiles {
  const entries = filesIn(spec).filter(isRecord);
  const byPath = Map.groupBy(entries, (entry) => textAt(entry, 'path') ?? '');
  return new Map(
    [...byPath].map(([path, found]) => [path, { digest: digestOf(found), host: hostFile(found, spec) }]),
  );
}

/** Returns `spec.files`. */
export function filesIn(spec: unknown): readonly unknown[] {
  const files = valueAt(spec, 'files');
  return Array.isArray(files) ? (files as readonly unknown[]) : [];
}

function hostFile([entry = {}, second]: readonly JsonRecord[], spec: unknown): HostFile | string {
  if (second) return 'the KubeadmConfig has it twice';
  const reason = unknownReason(entry, textAt(spec, 'format') ?? 'cloud-config');
  if (reason !== undefined) return reason;
  const written = writtenContent(textAt(entry, 'content') ?? '', textAt(entry, 'encoding'));
  if ('reason' in written) return written.reason;
  return { content: written.text, ...rightsOf(entry) };
}

function rightsOf(entry: JsonRecord): Pick<HostFile, 'mode' | 'owner'> {
  const mode = Number.parseInt(textAt(entry, 'permissions') ?? DEFAULT_MODE, 8);
  return { mode, owner: textAt(entry, 'owner') ?? DEFAULT_OWNER };
}

/** Returns why it is not known what becomes of an entry, whatever its content is. */
function unknownReason(entry: JsonRecord, format: string): string | undefined {
  const path = textAt(entry, 'path') ?? '';
  const contentFormat = textAt(entry, 'contentFormat') ?? 'Raw';
  const permissions = textAt(entry, 'permissions') ?? DEFAULT_MODE;
  const reasons: readonly (readonly [isUnknown: boolean, because: string])[] = [
    [format !== 'cloud-config', `it is written by ${format}`],
    [!PLAIN_PATH.test(path), 'its path has characters that YAML may change'],
    [entry['contentFrom'] !== undefined, 'its content is in a Secret'],
    [entry['append'] === true, 'it is added to another file'],
    [contentFormat !== 'Raw', `its content is a ${contentFormat}`],
    [!PERMISSIONS.test(permissions), 'its permissions are not octal'],
  ];
  return reasons.find(([isUnknown]) => isUnknown)?.[1];
}

type Written = { readonly text: string } | { readonly reason: string };

function writtenContent(content: string, encoding: string | undefined): Written {
  if (encoding === undefined) return blockText(content);
  return encoding === 'base64' ? decoded(content) : { reason: `its content is in the encoding ${encoding}` };
}

/**
 * The provider writes the content as a block scalar of YAML, which ends with one line feed whatever the content ends with, and whose
 * indentation is that of its first line.
 */
function blockText(content: string): Written {
  if (NOT_PLAIN.test(content)) return { reason: 'its content has characters that YAML changes' };
  if (JINJA.test(content)) return { reason: 'its content is a template of Jinja, which the host renders' };
  const text = content.replace(/\n+$/, '');
  const isChanged = text === '' || /^\n* /.test(text) || /\n[\t ]+$/.test(text);
  return isChanged ? { reason: 'its content begins or ends with white space' } : { text: `${text}\n` };
}

function decoded(content: string): Written {
  const text = content.replaceAll(/\s/g, '');
  if (!BASE64.test(text) || text.length % 4 !== 0) return { reason: 'its content is not base64' };
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return { text: decoder.decode(Uint8Array.from(atob(text), (each) => each.codePointAt(0) ?? 0)) };
  } catch {
    return { reason: 'its content is not text' };
  }
}
