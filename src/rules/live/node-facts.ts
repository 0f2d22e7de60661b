/** The facts of the nodes of a cluster, as rules read them. */
import type { CompiledRule, FactReader } from '../compiled-rule.ts';

/** Facts of the nodes of this cluster, as their sources report them now. */
export interface NodeFacts {
  /** The reading of anything unknown, stale, failed or of the wrong type is UNKNOWN_READING. `maxAge` is that of the compiled rule. */
  read(machine: string, maxAge: CompiledRule['maxAge']): FactReader;
}
