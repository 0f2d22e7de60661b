/** The condition Accepted of an object that is checked before it is used. Pure. No npm package here. */
import type { ConditionUpdate } from '../../kube/objects/conditions.ts';
import type { Metadata } from '../../kube/objects/object.ts';
import { ANNOTATION_SOURCE } from '../names.ts';
import type { Problem } from '../validation/validate.ts';

export interface Checked {
  /** In a message: `rule`. */
  readonly what: string;
  readonly metadata: Pick<Metadata, 'name' | 'annotations'>;
  readonly problems: readonly Problem[];
  /** Why it is accepted. */
  readonly valid: string;
}

/** The first problem with its place: file and line where it comes from git, and the path in the object. */
export function acceptedFinding({ what, metadata, problems, valid }: Checked): ConditionUpdate {
  const type = 'Accepted';
  const [first, ...more] = problems;
  if (!first) return { type, status: 'True', reason: 'Valid', message: valid };
  const source = metadata.annotations?.[ANNOTATION_SOURCE];
  const place = source === undefined ? '' : ` (${source})`;
  const rest = more.length > 0 ? ` (and ${more.length} more)` : '';
  const message = `${what} ${metadata.name}${place}: ${first.path}: ${first.message}${rest}`;
  return { type, status: 'False', reason: 'Invalid', message };
}
