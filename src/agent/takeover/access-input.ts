/** Parses what a caller sends by stdin. Errors name the field and never contain what was sent. Pure. */
import { textAt } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import { parseCredentials } from '../../os/oci/credentials.ts';
import { TakeoverError } from './errors.ts';

export interface AccessInput {
  readonly certificatePem: string;
  readonly server: string;
  /** PEM; without it the CAs of the host are trusted. */
  readonly ca?: string;
  /** The credentials of registries, as a config.json of Docker. */
  readonly registries?: string;
}

export interface SentOwner {
  readonly machineUid?: string;
  readonly clusterUid?: string;
}

const FIELDS_OF_OWNER = ['machineUid', 'clusterUid'] as const;
/** A UID of an object is a UUID; other programs than the API server may use other characters. */
const UID = /^[\w.-]{1,128}$/;

export function parseOwner(text: string): SentOwner {
  if (text.trim() === '') return {};
  const sent = parseObject(text);
  const [machineUid, clusterUid] = FIELDS_OF_OWNER.map((field) => optionalText(sent, field));
  for (const [index, uid] of [machineUid, clusterUid].entries()) {
    if (uid !== undefined && !UID.test(uid)) throw badInput(`${FIELDS_OF_OWNER[index]} is not a UID`);
  }
  return { ...optional('machineUid', machineUid), ...optional('clusterUid', clusterUid) };
}

export function parseAccess(text: string): AccessInput {
  const sent = parseObject(text);
  const certificatePem = optionalText(sent, 'certificatePem');
  const server = optionalText(sent, 'server');
  if (certificatePem === undefined) throw badInput('certificatePem is missing');
  if (server === undefined) throw badInput('server is missing');
  if (!URL.canParse(server) || new URL(server).protocol !== 'https:') {
    throw badInput('server is not an https URL');
  }
  const ca = optional('ca', optionalText(sent, 'ca'));
  return { certificatePem, server, ...ca, ...optional('registries', registriesIn(sent)) };
}

function registriesIn(sent: object): string | undefined {
  const text = optionalText(sent, 'registries');
  if (text === undefined) return undefined;
  try {
    parseCredentials(text, 'registries');
    return text;
  } catch {
    throw badInput('registries is not a config.json of Docker with credentials');
  }
}

function parseObject(text: string): object {
  try {
    const sent: unknown = JSON.parse(text);
    if (typeof sent === 'object' && sent !== null && !Array.isArray(sent)) return sent;
  } catch {
    // The message of the parser contains a part of the text.
  }
  throw badInput('expected a JSON object');
}

function optionalText(sent: object, field: string): string | undefined {
  const value = textAt(sent, field);
  if (value !== undefined && value !== '') return value;
  if (!(field in sent)) return undefined;
  throw badInput(`${field} is not a text`);
}

function badInput(what: string): TakeoverError {
  return new TakeoverError('BadInput', `stdin: ${what}`);
}
