/** The declaration of a kind. */
import type { CelRule, Schema } from '../schema.ts';
import type { PhaseTable } from '../status/phase-of-conditions.ts';

export interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  /** Where objects of the kind are stored: those about clusters in the hub, those about nodes in each cluster. */
  readonly lives: 'hub' | 'cluster';
  readonly description: string;
  /** 63 for names that people choose, 253 for composed names. */
  readonly nameMax: 63 | 253;
  readonly spec: Schema;
  readonly status: Schema;
  /** CEL rules on the root, which can read `metadata.name`, spec and status. */
  readonly rules?: readonly CelRule[];
  readonly columns: readonly PrinterColumn[];
  readonly scale?: Scale;
  readonly selectableFields?: readonly string[];
  readonly phases: PhaseTable;
}

export interface PrinterColumn {
  readonly name: string;
  readonly path: string;
  readonly type?: 'string' | 'integer' | 'boolean' | 'date';
  /** Only with `-o wide`. */
  readonly wide?: boolean;
}

export interface Scale {
  readonly replicas: string;
  readonly statusReplicas: string;
  readonly selector: string;
}

export const AGE: PrinterColumn = { name: 'Age', path: '.metadata.creationTimestamp', type: 'date' };
export const PHASE: PrinterColumn = { name: 'Phase', path: '.status.phase' };
export const WAITING: PrinterColumn = { name: 'Waiting', path: '.status.waiting.reason' };

/** A column that shows the status of a condition. */
export function conditionColumn(type: string): PrinterColumn {
  return { name: type, path: `.status.conditions[?(@.type=="${type}")].status` };
}
