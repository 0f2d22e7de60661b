/** Opens the repository of a Pipeline with credentials from Secrets of the hub. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Pipeline } from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import { openGit } from '../git/open.ts';
import type { GitTransport } from '../git/transport.ts';
import { type SecretRef, secretValue, secretVersion } from './credentials.ts';

/** Differs when the repository has to be opened again. */
export function repositoryVersion({ spec }: Pipeline, secrets: Store): string {
  const { repository, ref, path, pollSeconds, hostKeys } = spec.source;
  const versions = refsOf(spec.source).map((secret) => secretVersion(secrets, secret));
  return JSON.stringify([repository, ref, path, pollSeconds, hostKeys, versions]);
}

export function openRepository({ metadata, spec }: Pipeline, secrets: Store, folder: string): GitTransport {
  const { repository, hostKeys } = spec.source;
  const [credentials, authorities] = [credentialsRef(spec.source), caRef(spec.source)];
  const user = `Pipeline ${metadata.name}`;
  // One folder per repository: objects of another repository must not be used for this one.
  const name = createHash('sha256').update(repository).digest('hex').slice(0, 16);
  return openGit({
    repository,
    folder: join(folder, `${metadata.name}-${name}`),
    ...(credentials ? { credential: secretValue(secrets, credentials, user).trim() } : {}),
    ...(authorities ? { ca: secretValue(secrets, authorities, user) } : {}),
    hostKeys: hostKeys ?? [],
  });
}

type SourceSpec = Pipeline['spec']['source'];

function refsOf(source: SourceSpec): SecretRef[] {
  return [credentialsRef(source), caRef(source)].flatMap((ref) => ref ?? []);
}

function credentialsRef({ credentialsRef: ref }: SourceSpec): SecretRef | undefined {
  return ref ? { name: ref.name, key: ref.key ?? 'token' } : undefined;
}

function caRef({ caRef: ref }: SourceSpec): SecretRef | undefined {
  return ref ? { name: ref.name, key: ref.key ?? 'ca.crt' } : undefined;
}
