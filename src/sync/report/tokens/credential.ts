/**
 * Reads the credential for the API of a git host from a Secret: a token, or a GitHub App, which gets tokens that end within an hour. Its
 * values are sent to the hosts that the Secret permits, and to no other.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { hasSecretKey, readSecret, SecretError } from '../../../api/secrets/read.ts';
import type { SecretReference } from '../../../api/secrets/references.ts';
import type { Store } from '../../../kube/cache/store.ts';
import type { GitHostProject } from '../git-host.ts';
import { GIT_HOST_ADAPTERS } from '../hosts/adapters.ts';

export interface TokenCredential {
  readonly type: 'Token';
  readonly token: string;
}

export interface AppCredential {
  readonly type: 'App';
  readonly appID: string;
  readonly installationID: string;
  /** The private key of the App, as PEM. */
  readonly privateKey: string;
}

export type HostCredential = TokenCredential | AppCredential;

export interface CredentialUse {
  readonly project: Pick<GitHostProject, 'type' | 'base'>;
  /** Hosts that the token is sent to besides the API. */
  readonly hosts?: readonly string[];
}

/** Throws SecretError. */
export function readHostCredential(
  secrets: Pick<Store, 'get'>,
  reference: SecretReference,
  use: CredentialUse,
): HostCredential {
  const { project } = use;
  const { host } = new URL(GIT_HOST_ADAPTERS[project.type].apiUrl(project.base));
  const hosts = [...new Set([...(use.hosts ?? []), host])];
  if (!isAppSecret(secrets, reference)) {
    return {
      type: 'Token',
      token: checkedToken(readSecret(secrets, reference, { hosts }).trim(), reference),
    };
  }
  if (project.type !== 'GitHub') {
    throw new SecretError(
      `Secret ${reference.name}, which ${reference.user} references, contains a GitHub App, and ${project.base} is ${project.type}: put a token into the key ${reference.key}`,
    );
  }
  const valueOf = (key: string): string => readSecret(secrets, { ...reference, key }, { hosts }).trim();
  return appCredential(reference, {
    appID: valueOf('appID'),
    installationID: valueOf('installationID'),
    privateKey: valueOf('privateKey'),
  });
}

const APP_KEYS = ['appID', 'installationID', 'privateKey'] as const;

/** Tells whether a Secret contains a GitHub App. Throws SecretError for one that contains a token, too. */
export function isAppSecret(secrets: Pick<Store, 'get'>, reference: SecretReference): boolean {
  const { name, key, user } = reference;
  const [found] = APP_KEYS.filter((each) => each !== key && hasSecretKey(secrets, { name, key: each }));
  if (found === undefined) return false;
  if (!hasSecretKey(secrets, reference)) return true;
  throw new SecretError(
    `Secret ${name}, which ${user} references, contains a token, key ${key}, and a GitHub App, key ${found}: remove one of them`,
  );
}

/** Returns a text that differs for another credential. It contains the secret values: keep it in memory. */
export function credentialKey(credential: HostCredential): string {
  if (credential.type === 'Token') return credential.token;
  return JSON.stringify(APP_KEYS.map((key) => credential[key]));
}

/** Characters that a header may have, and no space: a key in PEM form is not a token. */
export const TOKEN = /^[\x21-\x7e]{4,4096}$/;

function checkedToken(token: string, { name, key, user }: SecretReference): string {
  if (TOKEN.test(token)) return token;
  throw new SecretError(
    `key ${key} of Secret ${name}, which ${user} references, is not a token: expected one line of letters, digits and punctuation`,
  );
}

/** The number of an App, or its client ID. */
const APP_ID = /^[A-Za-z0-9.]{1,64}$/;
/** The number becomes part of a URL. */
const INSTALLATION_ID = /^\d{1,19}$/;

function appCredential({ name, user }: SecretReference, app: Omit<AppCredential, 'type'>): AppCredential {
  const refuse = (key: string, expected: string): never => {
    throw new SecretError(
      `key ${key} of Secret ${name}, which ${user} references, is not valid: ${expected}`,
    );
  };
  if (!APP_ID.test(app.appID)) refuse('appID', 'expected the number or the client ID of a GitHub App');
  if (!INSTALLATION_ID.test(app.installationID)) {
    refuse('installationID', 'expected the number at the end of the URL of the installation');
  }
  const problem = privateKeyProblem(app.privateKey);
  if (problem !== undefined) refuse('privateKey', problem);
  return { type: 'App', ...app };
}

/** GitHub creates RSA keys of 2048 bits. */
const MIN_BITS = 2048;

function privateKeyProblem(pem: string): string | undefined {
  const expected = 'expected the private key of the GitHub App as PEM, as GitHub generated it';
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    return expected;
  }
  if (key.asymmetricKeyType !== 'rsa') return `${expected}, which is an RSA key`;
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  return modulusLength < MIN_BITS
    ? `expected an RSA key of ${MIN_BITS} bits, got ${modulusLength}`
    : undefined;
}
