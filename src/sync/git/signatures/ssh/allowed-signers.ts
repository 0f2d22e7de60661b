/** Reads the file format of `gpg.ssh.allowedSignersFile` (ssh-keygen(1), ALLOWED SIGNERS). Pure. */
import { parseZonedTime } from '../../../../os/dates.ts';

export interface AllowedSigner {
  /** Names the signer in messages: usually an address. */
  readonly principals: string;
  readonly validAfter?: Date;
  readonly validBefore?: Date;
}

export interface AllowedSigners {
  /** By the public key in base64. A key may be listed more than once, for different times. */
  readonly byKey: ReadonlyMap<string, readonly AllowedSigner[]>;
  /** Lines that cannot be used, each with its reason. */
  readonly problems: readonly string[];
}

const LINE =
  /^(?<principals>"[^"]+"|[^\s"]\S*)\s+(?:(?<options>(?:[^\s"]|"[^"]*")+)\s+)?(?<type>(?:ssh|ecdsa|sk)-[^\s",=]+)\s+(?<key>[A-Za-z0-9+/]+={0,2})(?:\s|$)/;
const OPTION = /(?<name>[A-Za-z-]+)(?:="(?<value>[^"]*)")?(?:,|$)/y;
const TIME = /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)(?:(?<hour>\d\d)(?<minute>\d\d)(?<second>\d\d)?)?Z?$/;
/** A key of 16384 bits in base64 has 2,800 characters. */
const MAX_LINE = 8192;
const MAX_PROBLEMS = 3;

export function parseAllowedSigners(text: string): AllowedSigners {
  const byKey = new Map<string, AllowedSigner[]>();
  const problems: string[] = [];
  let number = 0;
  for (const line of text.split('\n')) {
    number += 1;
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const parsed = parseLine(trimmed);
    if (typeof parsed === 'string') {
      if (problems.length < MAX_PROBLEMS) problems.push(`line ${number} ${parsed}`);
    } else if (parsed.isForGit) {
      const known = byKey.get(parsed.key);
      if (known) known.push(parsed.signer);
      else byKey.set(parsed.key, [parsed.signer]);
    }
  }
  return { byKey, problems };
}

interface ParsedLine {
  readonly key: string;
  readonly signer: AllowedSigner;
  readonly isForGit: boolean;
}

function parseLine(line: string): ParsedLine | string {
  const groups = line.length > MAX_LINE ? undefined : LINE.exec(line)?.groups;
  if (!groups) return 'is not of the form PRINCIPALS [OPTIONS] TYPE KEY';
  // All but the options always match something.
  const [principals, options, type, key] = ['principals', 'options', 'type', 'key'].map(
    (name) => groups[name],
  );
  return readLine({ principals, type, key }, parseOptions(options ?? ''));
}

type Fields = Readonly<Record<'principals' | 'type' | 'key', string | undefined>>;

function readLine(
  { principals = '', type = '', key = '' }: Fields,
  options: Options | string,
): ParsedLine | string {
  const blob = Buffer.from(key, 'base64');
  if (!isOfType(blob, type)) return `has a key that is not of type ${type.slice(0, 64)}`;
  if (typeof options === 'string') return options;
  const signer = { principals: principals.replaceAll('"', ''), ...options.times };
  return { key: blob.toString('base64'), signer, isForGit: options.isForGit };
}

function isOfType(blob: Buffer, type: string): boolean {
  return (
    blob.length > 4 + type.length &&
    blob.readUInt32BE() === type.length &&
    blob.toString('latin1', 4, 4 + type.length) === type
  );
}

interface Options {
  readonly times: Pick<AllowedSigner, 'validAfter' | 'validBefore'>;
  readonly isForGit: boolean;
}

/** An option that is not known may restrict the key, so the line is not used. */
function parseOptions(text: string): Options | string {
  let options: Options = { times: {}, isForGit: true };
  for (let at = 0; at < text.length; at = OPTION.lastIndex) {
    OPTION.lastIndex = at;
    const { name = '', value } = OPTION.exec(text)?.groups ?? {};
    const next = withOption(options, name.toLowerCase(), value);
    if (typeof next === 'string') return next;
    options = next;
  }
  return options;
}

function withOption(options: Options, name: string, value: string | undefined): Options | string {
  switch (name) {
    case 'namespaces':
      return {
        ...options,
        isForGit: (value ?? '').split(',').some((each) => each === 'git' || each === '*'),
      };
    case 'valid-after':
      return withTime(options, { name, field: 'validAfter', value });
    case 'valid-before':
      return withTime(options, { name, field: 'validBefore', value });
    case 'cert-authority':
      return 'names a certificate authority, which is not supported: list the keys themselves';
    default:
      return `has the option ${JSON.stringify(name)}, which is not known`;
  }
}

interface TimeOption {
  readonly name: string;
  readonly field: 'validAfter' | 'validBefore';
  readonly value: string | undefined;
}

function withTime({ times, isForGit }: Options, { name, field, value }: TimeOption): Options | string {
  const at = parseTime(value ?? '');
  if (!at) return `has an invalid time in ${name}: write YYYYMMDD or YYYYMMDDHHMM, in UTC`;
  return { isForGit, times: { ...times, [field]: at } };
}

/** OpenSSH reads a time without Z in the zone of the host. Here it is UTC everywhere: two replicas must agree. */
function parseTime(text: string): Date | undefined {
  const { year, month, day, hour = '00', minute = '00', second = '00' } = TIME.exec(text)?.groups ?? {};
  return parseZonedTime(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
