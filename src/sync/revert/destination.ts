/** Reads from a Pipeline and its Secrets where reverts are pushed and proposed, and with which token. */
import { PIPELINES } from '../../api/generated/resources.ts';
import type { Pipeline } from '../../api/generated/types.ts';
import { hasSecretKey, readSecret } from '../../api/secrets/read.ts';
import { secretReferences } from '../../api/secrets/references.ts';
import type { Store } from '../../kube/cache/store.ts';
import { optional } from '../../kube/objects/optional.ts';
import { fullRef, parseRepository } from '../git/repository-url.ts';
import { GitHostError } from '../report/git-host.ts';
import { type StatusTarget, statusTarget } from '../report/target.ts';

export interface RevertDestination extends StatusTarget {
  readonly repository: string;
  /** The tracked ref: `refs/heads/main`. */
  readonly ref: string;
  /** The name of its branch. */
  readonly branch: string;
  readonly how: 'Push' | 'Propose';
  /** A private key in the form of OpenSSH. */
  readonly signingKey?: string;
}

const WAYS: Readonly<Record<Pipeline['spec']['onFailure'], RevertDestination['how'] | undefined>> = {
  Stop: undefined,
  ProposeRevert: 'Propose',
  PushRevert: 'Push',
};
const BRANCHES = 'refs/heads/';
const SIGNING_KEY = 'signing-key';

/** Returns undefined for a Pipeline without automatic reverts. Throws GitHostError or SecretError. */
export function revertDestination(
  pipeline: Pipeline,
  secrets: Pick<Store, 'get'>,
): RevertDestination | undefined {
  const { onFailure, source } = pipeline.spec;
  const how = WAYS[onFailure];
  if (!how) return undefined;
  // The API may have another host than the repository: the Secret has to permit both.
  const hosts = [parseRepository(source.repository).host];
  const target = statusTarget(pipeline, secrets, { use: 'git-push', hosts });
  const reference = secretReferences(PIPELINES.kind, pipeline).find(({ use }) => use === 'git-push');
  if (!target || !reference) {
    throw new GitHostError('a revert needs a token of its own: set spec.source.writeCredentialsRef');
  }
  const ref = fullRef(source.ref);
  if (!ref.startsWith(BRANCHES)) {
    throw new GitHostError(
      `reverts are for a branch, and ${source.ref} is not one: set spec.source.ref to refs/heads/NAME`,
    );
  }
  const key = { ...reference, key: SIGNING_KEY };
  const signingKey = hasSecretKey(secrets, key) ? readSecret(secrets, key, 'nowhere') : undefined;
  return {
    ...target,
    repository: source.repository,
    ref,
    branch: ref.slice(BRANCHES.length),
    how,
    ...optional('signingKey', signingKey),
  };
}
