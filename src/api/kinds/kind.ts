/** What one of our kinds is, beside its fields. */
import type { PhaseTable } from '../phase.ts';
import type { Rule, Schema } from '../schema.ts';

export interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  /** The hub holds what is about clusters; each cluster holds what is about its nodes. */
  readonly lives: 'hub' | 'cluster';
  readonly description: string;
  /** 63 for names that people choose, 253 for composed ones. */
  readonly nameMax: 63 | 253;
  readonly spec: Schema;
  readonly status: Schema;
  /** CEL rules that see `metadata.name`, spec and status. */
  readonly rules?: readonly Rule[];
  readonly columns: readonly Column[];
  readonly scale?: Scale;
  readonly selectableFields?: readonly string[];
  readonly phases: PhaseTable;
}

export interface Column {
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

export const AGE: Column = { name: 'Age', path: '.metadata.creationTimestamp', type: 'date' };
export const PHASE: Column = { name: 'Phase', path: '.status.phase' };
export const WAITING: Column = { name: 'Waiting', path: '.status.waiting.reason' };

/** A column that shows the status of a condition. */
export function conditionColumn(type: string): Column {
  return { name: type, path: `.status.conditions[?(@.type=="${type}")].status` };
}
