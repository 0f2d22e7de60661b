/** Declares what a fact consists of. The compiler, the tracker of changes, readers, recordings and replays take all of it from here. */
import type { MaxAge, Reading } from '../compiled-rule.ts';
import type { FactViewName, ObjectView, ViewObject } from '../views.ts';
import type { FactFields, FactParam, FactParams, Observation } from './field.ts';
import type { ReadFact } from './reading/answer.ts';
import type { RecordedFields } from './reading/recorded.ts';

export interface FactKind {
  readonly name: string;
  readonly source: string;
  readonly maxAge: MaxAge;
  /**
   * The parameters in the order of the documentation. The first one names what is read: it is the key in `given` of tests, and what
   * `changes` returns.
   */
  readonly params: ReadonlyMap<string, FactParam>;
  readonly fields: FactFields;
  /** How facts that are counted from observations, such as Events, are computed. */
  readonly observed?: ObservationType;
  /** Explains why a rule may use the fact in a gate only. */
  readonly onlyInGate?: string;
  /** The views of which objects of other nodes are read, too: a command that explains one node reads all of them. */
  readonly readsFleet?: readonly FactViewName[];
  /** Whose heartbeats keep the fact from becoming too old. */
  readonly heartbeats: readonly HeartbeatSource[];
  /** Reads the fact from memory only. What cannot be known is unknown. */
  readonly read: ReadFact;
  /** Tells by view what a change of an object concerns. Of a Node or Machine that appears or is deleted, every fact is concerned. */
  readonly changes: FactChanges;
  /** The fields by view that the fact reads: a recording keeps them. */
  readonly recorded: { readonly [V in ObjectView]?: RecordedFields };
}

export type HeartbeatSource = 'Agent' | 'Kubelet';

/** The values of the first parameter that are concerned; true: all of them. */
export type ConcernedParams = boolean | readonly string[];

export type FactChanges = {
  readonly [V in FactViewName]?: (
    before: ViewObject<V> | undefined,
    after: ViewObject<V> | undefined,
  ) => ConcernedParams;
};

export interface ObservationType {
  readonly entry: FactFields;
  /** Computes a reading from valid observations, which are complete for the last `reachSeconds`. */
  readonly read: (entries: readonly Observation[], params: FactParams, reachSeconds: number) => Reading;
}
