/** The next content of the ledger while requests are applied to it in order. */
import type { DefenderLedgerSpec } from '../../api/generated/types.ts';

/** With fields and maps that can be changed. */
type Drafted<T> = {
  -readonly [Key in keyof T]: T[Key] extends Readonly<Record<string, infer Value>>
    ? Record<string, Value>
    : T[Key];
};

export interface LedgerDraft extends Drafted<DefenderLedgerSpec> {
  /** Whether there is anything to write. */
  changed: boolean;
}

export const EMPTY_LEDGER: DefenderLedgerSpec = {
  seq: 0,
  epoch: 0,
  recovering: false,
  grants: {},
  gone: {},
  rates: {},
  breakers: {},
  approvals: {},
};

export function createDraft(spec: DefenderLedgerSpec): LedgerDraft {
  return {
    ...spec,
    grants: { ...spec.grants },
    gone: { ...spec.gone },
    rates: { ...spec.rates },
    breakers: { ...spec.breakers },
    approvals: { ...spec.approvals },
    changed: false,
  };
}

/** The draft as content of the object. */
export function finishDraft(draft: LedgerDraft): DefenderLedgerSpec {
  const spec: Partial<LedgerDraft> & DefenderLedgerSpec = { ...draft };
  delete spec.changed;
  return spec;
}
