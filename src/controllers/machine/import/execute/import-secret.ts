/**
 * Reads the Secret of an import. A commit can name any host and any Secret: the password of sudo and the credentials of registries go only to
 * hosts that the Secret names.
 */
import { NAMESPACE } from '../../../../api/names.ts';
import { readSecret, SecretError } from '../../../../api/secrets/read.ts';
import { secretReferences } from '../../../../api/secrets/references.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { unlessMissing } from '../../../../kube/client/errors.ts';
import { SECRETS } from '../../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../../kube/objects/json.ts';
import type { ObjectName } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { parseCredentials } from '../../../../os/oci/credentials.ts';
import type { ImportSecret, ImportTarget } from '../../../../providers/ssh/import/contract.ts';
import { secretHost } from '../../../../providers/ssh/target.ts';

/** The keys that the Secret may have beside that of `credentialsRef`. */
const PASSPHRASE = 'ssh-passphrase';
const SUDO_PASSWORD = 'sudo-password';
const REGISTRIES = 'registries.json';

/** Import: the host is given credentials of registries. Connect: it only needs to be reached, also when the Secret permits no more than that. */
export type SecretPurpose = 'Import' | 'Connect';

/** Throws a SecretError for a Secret that is missing, does not permit its use, or has credentials of registries that no host accepts. */
export async function readImportSecret(
  { machine, spec }: Omit<ImportTarget, 'secret'>,
  { client, purpose }: { readonly client: Pick<Client, 'get'>; readonly purpose: SecretPurpose },
  signal: AbortSignal,
): Promise<ImportSecret> {
  const user = { metadata: { name: machine }, spec: { import: spec } };
  const [reference] = secretReferences('Machine', user);
  if (!reference) throw new SecretError(`Machine ${machine} references no Secret`);
  const name = { name: reference.name, namespace: NAMESPACE };
  const secret = await unlessMissing(client.get(SECRETS, name, { signal }));
  const secrets = { get: () => secret };
  // A key only signs: the server that it is for learns nothing that it could use elsewhere.
  const privateKey = readSecret(secrets, reference, 'nowhere');
  const has = (key: string): boolean => textAt(secret, 'data', key) !== undefined;
  const read = (key: string, host?: string): string | undefined =>
    has(key)
      ? readSecret(secrets, { ...reference, key }, host === undefined ? 'nowhere' : { host })
      : undefined;
  const needsSudo = spec.user !== 'root';
  return {
    privateKey,
    ...optional('passphrase', read(PASSPHRASE)),
    ...optional('sudoPassword', needsSudo ? read(SUDO_PASSWORD, secretHost(spec)) : undefined),
    ...optional(
      'registries',
      purpose === 'Import' ? checked(read(REGISTRIES, secretHost(spec)), name) : undefined,
    ),
  };
}

/** Never quotes the text. The host would refuse it as well, but a person has to correct the Secret. */
function checked(
  registries: string | undefined,
  { namespace, name }: Required<ObjectName>,
): string | undefined {
  if (registries === undefined) return undefined;
  try {
    parseCredentials(registries, REGISTRIES);
    return registries;
  } catch {
    throw new SecretError(
      `Secret ${namespace}/${name}: expected {"auths": {"REGISTRY": {"auth": "BASE64"}}} in the key ${REGISTRIES}. Correct it, or remove the key`,
    );
  }
}
