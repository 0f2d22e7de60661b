/** Reads the credentials of registries from a file in the format of Docker: {"auths": {"REGISTRY": {"auth": "BASE64"}}}. */
import { readFile, stat } from 'node:fs/promises';
import { OsError, systemCode } from '../errors.ts';
import { toDiskError } from '../files.ts';

export interface RegistryCredentials {
  /** Returns the value of the header Authorization. Undefined: the file has nothing for that registry. */
  authorizationFor(registry: string): string | undefined;
}

export const NO_CREDENTIALS: RegistryCredentials = { authorizationFor: () => undefined };

const NOT_PRIVATE = 0o077;
const DOCKER_HUB = 'https://index.docker.io/v1/';

/** A file that other users can read is refused: its content has to be taken for known. A missing file has no credentials. */
export async function readCredentials(file: string): Promise<RegistryCredentials> {
  let text: string;
  try {
    const { mode } = await stat(file);
    if ((mode & NOT_PRIVATE) !== 0) {
      throw new OsError('NoAccess', `other users can read the credentials: ${file}`, {
        where: file,
        hint: `replace the credentials, then run: chmod 600 ${file}`,
      });
    }
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return NO_CREDENTIALS;
    throw toDiskError(error, file);
  }
  return parseCredentials(text, file);
}

/** Never quotes the content in an error. */
export function parseCredentials(text: string, file: string): RegistryCredentials {
  const auths = authsOf(text);
  if (!auths) {
    throw new OsError('BadInput', `expected {"auths": {"REGISTRY": {"auth": "BASE64"}}} in ${file}`, {
      where: file,
      hint: 'write the file in the format of a config.json of Docker; credential helpers are not supported',
    });
  }
  return {
    authorizationFor(registry) {
      const found = auths.get(registry) ?? (registry === 'docker.io' ? auths.get(DOCKER_HUB) : undefined);
      return found === undefined ? undefined : `Basic ${found}`;
    },
  };
}

function authsOf(text: string): ReadonlyMap<string, string> | undefined {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    return undefined;
  }
  const auths = objectIn(config, 'auths');
  if (!auths) return undefined;
  const known = new Map<string, string>();
  for (const [name, value] of Object.entries(auths)) {
    const auth = authOf(value);
    if (auth === undefined) return undefined;
    // Docker writes some registries as a URL.
    known.set(name === DOCKER_HUB ? name : name.replace(/^https?:\/\//, '').replace(/\/.*$/, ''), auth);
  }
  return known;
}

function authOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { auth, username, password } = value as Readonly<Record<string, unknown>>;
  if (typeof auth === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(auth)) return auth;
  if (typeof username !== 'string' || typeof password !== 'string') return undefined;
  return Buffer.from(`${username}:${password}`).toString('base64');
}

function objectIn(value: unknown, key: string): Readonly<Record<string, unknown>> | undefined {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : value;
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined;
}
