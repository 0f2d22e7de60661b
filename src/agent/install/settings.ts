/** Reads how this host downloads: mirrors that have the artifacts of the fleet by their digest, and the bandwidth that all agents share. */
import { decodeText } from '../files/text.ts';
import { HostError } from '../host/errors.ts';
import type { HostFiles } from '../host/port.ts';
import { DOWNLOADS_FILE } from '../layout.ts';

export interface DownloadSettings {
  /** Places that have each artifact under its SHA-256: base URLs of folders, or repositories of a registry. Tried before the URL. */
  readonly mirrors: readonly string[];
  readonly bandwidth?: DeclaredBandwidth;
}

export interface DeclaredBandwidth {
  /** The bytes per second that all agents together may take. */
  readonly bytesPerSecond: number;
  /** The largest number of agents that share them. */
  readonly agents: number;
}

export const NO_SETTINGS: DownloadSettings = { mirrors: [] };

const KEYS: readonly string[] = ['mirrors', 'bytesPerSecond', 'agents'];
const MIRROR = /^(?:https?:\/\/[^/\s]+|oci:\/\/[^/\s]+\/|file:\/\/\/)[^\s?#]*$/;
const MAX_MIRRORS = 4;

/** A file that is not understood is an error: without its limits, a fleet could overload the server. */
export async function readDownloadSettings(files: Pick<HostFiles, 'read'>): Promise<DownloadSettings> {
  const content = await files.read(DOWNLOADS_FILE);
  return content === undefined ? NO_SETTINGS : parseDownloadSettings(decodeText(content));
}

export function parseDownloadSettings(text: string): DownloadSettings {
  const { mirrors = [], bytesPerSecond, agents, ...others } = parseObject(text);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(`expected only ${KEYS.join(', ')}, got ${unknown}`);
  if (!isMirrorList(mirrors)) {
    throw invalid(
      `mirrors: expected at most ${MAX_MIRRORS} URLs that begin with https://, http://, file:/// or oci://`,
    );
  }
  return { mirrors, ...parseBandwidth(bytesPerSecond, agents) };
}

function parseBandwidth(bytesPerSecond: unknown, agents: unknown): Pick<DownloadSettings, 'bandwidth'> {
  if (bytesPerSecond === undefined && agents === undefined) return {};
  if (isCount(bytesPerSecond) && isCount(agents)) return { bandwidth: { bytesPerSecond, agents } };
  throw invalid('bytesPerSecond and agents: expected both, as positive integers');
}

/** Returns the URL of an artifact at a mirror. */
export function urlAtMirror(mirror: string, sha256: string): string {
  return mirror.startsWith('oci://') ? mirror : `${mirror.replace(/\/+$/, '')}/${sha256}`;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Reported below.
  }
  throw invalid('expected a JSON object');
}

function isMirrorList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_MIRRORS &&
    value.every((each) => typeof each === 'string' && MIRROR.test(each))
  );
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function invalid(problem: string): HostError {
  return new HostError('BadInput', `${DOWNLOADS_FILE}: ${problem}`, {
    where: DOWNLOADS_FILE,
    hint: 'correct the file: nothing is downloaded before',
  });
}
