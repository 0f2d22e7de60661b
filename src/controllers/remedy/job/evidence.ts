/** Collects the facts that a decision read, as its job keeps them: small, and frozen. Pure. */
import type { Evidence } from '../../../api/generated/types.ts';
import { wholeSeconds } from '../../../os/dates.ts';
import type { CompiledRule, FactReader } from '../../../rules/compiled-rule.ts';

/** A rule and what it read. */
export interface RuleReading {
  readonly compiled: Pick<CompiledRule, 'reads'>;
  readonly facts: FactReader;
}

const MAX_ENTRIES = 16;
const MAX_BYTES = 8192;

/**
 * Returns the evidence. The facts of the rule that acts come first, then those of the others that found a fault. Unknown facts
 * are left out.
 */
export function evidenceOf(rules: readonly RuleReading[], now: Date): readonly Evidence[] {
  const found = new Map<string, Evidence>();
  for (const { compiled, facts } of rules) {
    for (const ref of compiled.reads) {
      const value = facts(ref);
      if (found.has(ref.key) || Object.keys(value).length === 0) continue;
      const params = Object.keys(ref.params).length > 0 ? { params: ref.params } : {};
      found.set(ref.key, { fact: ref.fact as Evidence['fact'], ...params, value, at: wholeSeconds(now) });
    }
  }
  return fitting([...found.values()].slice(0, MAX_ENTRIES));
}

/** Returns the entries that fit. An entry that does not fit is left out, and smaller ones after it are kept. */
function fitting(entries: readonly Evidence[]): readonly Evidence[] {
  let left = MAX_BYTES;
  return entries.filter((entry) => {
    const bytes = Buffer.byteLength(JSON.stringify(entry));
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}
