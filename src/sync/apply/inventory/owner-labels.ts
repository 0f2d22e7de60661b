/** The marks by which sync knows its own objects again: who owns it, from which unit, commit and line. */
import {
  ANNOTATION_COMMIT,
  ANNOTATION_PRUNE,
  ANNOTATION_SOURCE,
  LABEL_HUB,
  LABEL_UNIT,
  PRUNE_NEVER,
} from '../../../api/names.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { type RenderedObject, sourceText } from '../../rendered.ts';

export interface Ownership {
  /** UID of the hub: another hub's objects are never taken over. */
  readonly hub: string;
  readonly unit: string;
  readonly commit: string;
}

/** The very object that is sent: the render and our marks, nothing else. */
export function withOwnerLabels(
  { object, source }: RenderedObject,
  { hub, unit, commit }: Ownership,
): KubeObject {
  const { metadata } = object;
  const annotations = {
    ...metadata.annotations,
    [ANNOTATION_COMMIT]: commit,
    ...(sourceText(source) ? { [ANNOTATION_SOURCE]: sourceText(source) } : {}),
  };
  const labels = { ...metadata.labels, [LABEL_HUB]: hub, [LABEL_UNIT]: unit };
  return { ...object, metadata: { ...metadata, labels, annotations } };
}

export type Owner = 'ours' | 'other-unit' | 'other-hub' | 'nobody';

export interface Claim {
  readonly hub: string;
  readonly unit: string;
  /** The unit that it comes from, while it moves. */
  readonly from?: string;
}

export function ownerOf(live: KubeObject, { hub, unit, from }: Claim): Owner {
  const labels = live.metadata.labels ?? {};
  if (labels[LABEL_HUB] === undefined) return 'nobody';
  if (labels[LABEL_HUB] !== hub) return 'other-hub';
  const marked = labels[LABEL_UNIT];
  return marked !== undefined && (marked === unit || marked === from) ? 'ours' : 'other-unit';
}

export function isKeptOnPrune({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ANNOTATION_PRUNE] === PRUNE_NEVER;
}
