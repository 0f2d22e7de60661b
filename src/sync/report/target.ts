/** Reads from a Pipeline and its Secrets where its commit statuses are sent, and with which token. */
import { PIPELINES } from '../../api/generated/resources.ts';
import type { Pipeline } from '../../api/generated/types.ts';
import { readSecret, SecretError } from '../../api/secrets/read.ts';
import { secretReferences } from '../../api/secrets/references.ts';
import type { Store } from '../../kube/cache/store.ts';
import { optional } from '../../kube/objects/optional.ts';
import { type GitHostProject, gitHostProject } from './git-host.ts';
import { GIT_HOST_ADAPTERS } from './hosts/adapters.ts';

export interface StatusTarget {
  readonly project: GitHostProject;
  readonly token: string;
  readonly ca?: string;
  /** Differs when the statuses have to be sent again. */
  readonly address: string;
}

/** Returns undefined for a Pipeline without a Secret for that use. Throws GitHostError or SecretError. */
export function statusTarget(
  pipeline: Pipeline,
  secrets: Pick<Store, 'get'>,
  purpose: 'git-status' | 'git-push' = 'git-status',
): StatusTarget | undefined {
  const references = secretReferences(PIPELINES.kind, pipeline);
  const reference = references.find(({ use }) => use === purpose);
  if (!reference) return undefined;
  const authorities = references.find(({ use }) => use === 'git-ca');
  const project = gitHostProject(pipeline);
  const { host } = new URL(GIT_HOST_ADAPTERS[project.type].apiUrl(project.base));
  const token = readSecret(secrets, reference, { host }).trim();
  if (!TOKEN.test(token)) {
    const { name, key, user } = reference;
    throw new SecretError(
      `key ${key} of Secret ${name}, which ${user} references, is not a token: expected one line of letters, digits and punctuation`,
    );
  }
  return {
    project,
    token,
    ...optional('ca', authorities && readSecret(secrets, authorities, 'nowhere')),
    address: `${project.base}/${project.path} ${project.context}`,
  };
}

/** Characters that a header may have, and no space: a key in PEM form is not a token. */
const TOKEN = /^[\x21-\x7e]{4,4096}$/;
