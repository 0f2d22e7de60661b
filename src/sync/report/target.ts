/** Reads from a Pipeline and its Secrets where its commit statuses are sent, and with which credential. */
import { PIPELINES } from '../../api/generated/resources.ts';
import type { Pipeline } from '../../api/generated/types.ts';
import { readSecret } from '../../api/secrets/read.ts';
import { secretReferences } from '../../api/secrets/references.ts';
import type { Store } from '../../kube/cache/store.ts';
import { optional } from '../../kube/objects/optional.ts';
import { type GitHostProject, gitHostProject } from './git-host.ts';
import { type HostCredential, readHostCredential } from './tokens/credential.ts';

export interface StatusTarget {
  readonly project: GitHostProject;
  readonly credential: HostCredential;
  readonly ca?: string;
  /** Differs when the statuses have to be sent again. */
  readonly address: string;
}

export interface StatusTargetUse {
  readonly use: 'git-status' | 'git-push';
  /** Hosts that the credential is sent to besides the API. */
  readonly hosts?: readonly string[];
}

/** Returns undefined for a Pipeline without a Secret for that use. Throws GitHostError or SecretError. */
export function statusTarget(
  pipeline: Pipeline,
  secrets: Pick<Store, 'get'>,
  { use, hosts = [] }: StatusTargetUse = { use: 'git-status' },
): StatusTarget | undefined {
  const references = secretReferences(PIPELINES.kind, pipeline);
  const reference = references.find((each) => each.use === use);
  if (!reference) return undefined;
  const authorities = references.find((each) => each.use === 'git-ca');
  const project = gitHostProject(pipeline);
  return {
    project,
    credential: readHostCredential(secrets, reference, { project, hosts }),
    ...optional('ca', authorities && readSecret(secrets, authorities, 'nowhere')),
    address: `${project.base}/${project.path} ${project.context}`,
  };
}
