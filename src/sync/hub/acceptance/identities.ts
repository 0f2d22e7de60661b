/** Refuses a head whose Pipeline names an account for a unit that the head does not render (S29). */
import type { Pipeline } from '../../../api/generated/types.ts';
import { refusalMessage } from '../../judge/content.ts';
import { type IdentityQuestion, identityUnitRefusals } from '../../judge/identity-units.ts';
import type { RenderStore } from '../render-store.ts';
import { acceptContent, type CommitAcceptance } from './commit-checks.ts';

/**
 * Returns the units that had an identity in commits that were accepted. The spec alone proves nothing: the first Pipeline is applied
 * by a person, before any commit was judged.
 */
export function identityQuestion({
  metadata,
  status,
}: Pick<Pipeline, 'metadata' | 'status'>): IdentityQuestion {
  const { inForce, judging } = status?.gates ?? {};
  const identities = [...(inForce?.identities ?? []), ...(judging?.gates.identities ?? [])];
  return { pipeline: metadata.name, before: new Set(identities.map(({ unit }) => unit)) };
}

interface NewHead {
  readonly head: string;
  /** The newest commit that the hub accepted. */
  readonly newest: string | undefined;
  readonly identities: IdentityQuestion;
  readonly signal: AbortSignal;
}

/** Returns why the head is refused. The accepted commit is not judged again: a hub without the record of its gates would stop. */
export async function identityRefusal(
  renders: Pick<RenderStore, 'get'>,
  { head, newest, identities, signal }: NewHead,
): Promise<CommitAcceptance | undefined> {
  if (head === newest) return undefined;
  const refused = identityUnitRefusals(await renders.get(head, signal), identities);
  return refused.length > 0
    ? acceptContent({ accepted: false, message: refusalMessage(refused) })
    : undefined;
}
