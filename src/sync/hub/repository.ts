/** Opens the repository of a Pipeline with credentials from Secrets of the hub. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { PIPELINES } from '../../api/generated/resources.ts';
import type { Pipeline } from '../../api/generated/types.ts';
import { readSecret, SecretError, secretVersion } from '../../api/secrets/read.ts';
import { type SecretReference, type SecretUse, secretReferences } from '../../api/secrets/references.ts';
import type { Store } from '../../kube/cache/store.ts';
import { optional } from '../../kube/objects/optional.ts';
import { openGit } from '../git/open.ts';
import type { GitOptions } from '../git/options.ts';
import { parseRepository, type RepositoryUrl } from '../git/repository-url.ts';
import type { GitTransport } from '../git/transport.ts';
import { gitHostProject } from '../report/git-host.ts';
import { isAppSecret, readHostCredential } from '../report/tokens/credential.ts';
import { gitAccess } from '../report/tokens/git-tokens.ts';
import type { HostTokens } from '../report/tokens/host-tokens.ts';

/** Differs when the repository has to be opened again. */
export function repositoryVersion(pipeline: Pipeline, secrets: Store): string {
  const { repository, ref, path, pollSeconds, hostKeys, gitHost } = pipeline.spec.source;
  const versions = secretReferences(PIPELINES.kind, pipeline).map(
    (secret) => `${secret.name}/${secret.key}/${secretVersion(secrets, secret)}`,
  );
  return JSON.stringify([repository, ref, path, pollSeconds, hostKeys, gitHost, versions]);
}

export interface RepositoryAccess {
  readonly secrets: Store;
  /** Issues tokens for GitHub Apps. */
  readonly tokens: HostTokens;
}

export function openRepository(pipeline: Pipeline, access: RepositoryAccess, folder: string): GitTransport {
  const { repository, hostKeys } = pipeline.spec.source;
  const { name } = pipeline.metadata;
  const authorities = referenceOf(pipeline, 'git-ca');
  const ca = authorities && readSecret(access.secrets, authorities, 'nowhere');
  // One folder per repository: objects of another repository must not be used for this one.
  const digest = createHash('sha256').update(repository).digest('hex').slice(0, 16);
  return openGit({
    repository,
    folder: join(folder, `${name}-${digest}`),
    ...credentialsFor(pipeline, access, ca),
    ...optional('ca', ca),
    hostKeys: hostKeys ?? [],
  });
}

function credentialsFor(
  pipeline: Pipeline,
  { secrets, tokens }: RepositoryAccess,
  ca: string | undefined,
): Pick<GitOptions, 'credential' | 'tokens'> {
  const reference = referenceOf(pipeline, 'git');
  if (!reference) return {};
  const url = parseRepository(pipeline.spec.source.repository);
  if (url.scheme !== 'http' || !isAppSecret(secrets, reference)) {
    return { credential: readCredential(secrets, reference, url) };
  }
  const project = gitHostProject(pipeline);
  const credential = readHostCredential(secrets, reference, { project, hosts: [url.host] });
  const { repository } = pipeline.spec.source;
  return gitAccess({ project, credential, repository, ...optional('ca', ca) }, tokens);
}

function referenceOf(pipeline: Pipeline, use: SecretUse): SecretReference | undefined {
  return secretReferences(PIPELINES.kind, pipeline).find((reference) => reference.use === use);
}

/** In addition to the permission of the Secret, the value must have the form of a token or a key. */
function readCredential(secrets: Store, reference: SecretReference, url: RepositoryUrl): string {
  const value = readSecret(secrets, reference, url.host === '' ? 'nowhere' : { host: url.host }).trim();
  const { name, key, user } = reference;
  if (url.scheme === 'http' && (/[\r\n]/.test(value) || value.startsWith('{'))) {
    throw new SecretError(
      `key ${key} of Secret ${name}, which ${user} references, is not a token: expected one line, as TOKEN or USER:PASSWORD`,
    );
  }
  if (url.scheme === 'ssh' && !value.startsWith('-----BEGIN ')) {
    throw new SecretError(
      `key ${key} of Secret ${name}, which ${user} references, is not a private key: expected PEM or OpenSSH form`,
    );
  }
  return value;
}
