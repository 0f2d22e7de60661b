/** What happens to a fleet, one act after the other: as data, so that a failing sequence can be shrunk and repeated. Pure. */
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import type { Edit } from './content.ts';

export type Act =
  /** The next act waits until sync has observed the commit, and that long. Without a pause it follows at once. */
  | { readonly act: 'commit'; readonly edits: readonly Edit[]; readonly pauseMs?: number }
  /** A commit that does not render. */
  | { readonly act: 'unrenderable' }
  /** Something around the cluster breaks. It is repaired at the end of the sequence. */
  | { readonly act: 'fault'; readonly fault: Fault }
  /** Back to the good commit. */
  | { readonly act: 'revert' }
  | ByHand
  /** To the process that holds the Lease of the cluster, or to the other one. */
  | {
      readonly act: 'process';
      readonly which: 'holder' | 'other';
      readonly what: 'kill' | 'stop' | 'freeze';
    }
  /** Waits until the newest commit has reached the unit that no edit touches. */
  | { readonly act: 'expect-beat' }
  | { readonly act: 'pause'; readonly milliseconds: number };

export const FAULTS = [
  'aggregated API down',
  'rights removed',
  'credentials broken',
  'server killed',
] as const;
export type Fault = (typeof FAULTS)[number];

/** A person or another controller changes the cluster. `nth` counts the objects with owner labels. */
export type ByHand =
  | {
      readonly act: 'hand';
      readonly what: 'edit' | 'take' | 'delete' | 'strip labels' | 'add finalizer';
      readonly nth: number;
    }
  /** Another manager creates an object, or already has one of this name. */
  | { readonly act: 'foreign'; readonly object: KubeObject };

type ActOf<K extends Act['act']> = Extract<Act, { act: K }>;

const ACTS: { readonly [K in Act['act']]: (act: ActOf<K>) => string } = {
  commit: ({ edits }) => `commit: ${edits.map(describeEdit).join('; ')}`,
  unrenderable: () => 'commit: does not render',
  fault: ({ fault }) => `fault: ${fault}`,
  revert: () => 'git revert to the good commit',
  hand: ({ what, nth }) => `by hand: ${what}, owned object ${nth}`,
  foreign: ({ object }) => `another manager creates ${nameOf(object)}`,
  process: ({ which, what }) =>
    `${what} the process that ${which === 'holder' ? 'holds' : 'does not hold'} the Lease of the cluster`,
  'expect-beat': () => 'the unit calm arrives',
  pause: ({ milliseconds }) => `pause for ${milliseconds} ms`,
};

type EditOf<K extends Edit['edit']> = Extract<Edit, { edit: K }>;

const EDITS: { readonly [K in Edit['edit']]: (edit: EditOf<K>) => string } = {
  put: ({ object, unit }) => `put ${nameOf(object)} into unit ${unit}`,
  'put-many': ({ count, unit }) => `put ${count} ConfigMaps into unit ${unit}`,
  change: ({ nth, fields }) => `change object ${nth} to ${shortened(JSON.stringify(fields))}`,
  remove: ({ nth }) => `remove object ${nth}`,
  move: ({ nth, unit }) => `move object ${nth} to unit ${unit}`,
  'rename-unit': ({ unit, to }) => `rename unit ${unit} to ${to}`,
  'empty-unit': ({ unit }) => `remove everything from unit ${unit}`,
  'empty-cluster': () => 'remove everything from the cluster, except the unit calm',
  'drop-cluster': () => 'do not name the cluster any more',
};

/** For a person who repeats the sequence. */
export function describeAct(act: Act): string {
  return (ACTS[act.act] as (act: Act) => string)(act);
}

function describeEdit(edit: Edit): string {
  return (EDITS[edit.edit] as (edit: Edit) => string)(edit);
}

function nameOf(object: KubeObject): string {
  return shortened(JSON.stringify(objectKey(objectIdOf(object))));
}

function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

const MAX_SHOWN = 120;
