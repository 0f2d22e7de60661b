/** The lines of the page of health, and the charts that show them. Pure; runs in the page. */
import type { HistoryPoint } from '../state.ts';

/** The memory of the console has no `contact`: only Prometheus has it. */
export type HistoryField = keyof HistoryPoint | 'contact';

export interface HistoryLine {
  readonly field: HistoryField;
  readonly title: string;
  /** At the end of the line. */
  readonly label: string;
  /** Which value of the past a person looks for. */
  readonly worst: 'most' | 'least';
}

const LINES = {
  ready: { title: 'machines Ready', label: 'Ready', worst: 'least' },
  updated: { title: 'machines updated by their rollouts', label: 'updated', worst: 'least' },
  changing: { title: 'machines that change', label: 'changing', worst: 'most' },
  trouble: { title: 'machines in trouble', label: 'in trouble', worst: 'most' },
  repairs: { title: 'repairs', label: 'repairs', worst: 'most' },
  grants: { title: 'grants in use', label: 'grants', worst: 'most' },
  contact: { title: 'seconds since sync heard of a cluster', label: 'sync lag', worst: 'most' },
} as const satisfies Readonly<Record<HistoryField, Omit<HistoryLine, 'field'>>>;

export const HISTORY_FIELDS = Object.keys(LINES) as readonly HistoryField[];

export function historyLine(field: HistoryField): HistoryLine {
  return { field, ...LINES[field] };
}

export interface HistoryChart {
  readonly id: string;
  readonly title: string;
  readonly fields: readonly HistoryField[];
  /** Only a hub has something to show. */
  readonly isOfHub?: true;
}

/** Lines of one chart have one scale: beside 10,000 machines that are Ready, three in trouble would be a line on the floor. */
export const HISTORY_CHARTS: readonly HistoryChart[] = [
  { id: 'service', title: 'Machines in service', fields: ['ready', 'updated'] },
  { id: 'history', title: 'Machines that change or are in trouble', fields: ['changing', 'trouble'] },
  { id: 'acts', title: 'Repairs and grants', fields: ['repairs', 'grants'] },
  { id: 'sync', title: 'Sync', fields: ['contact'], isOfHub: true },
];
