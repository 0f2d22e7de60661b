/** Describes dashboards before they are those of Grafana: rows of panels, one row for each question of a person on call. Pure. */

export type Color = 'green' | 'orange' | 'red' | 'text';
/** The color of the lowest values, then the colors of those from a number on. */
export type Thresholds = readonly [Color, ...(readonly [from: number, color: Color])[]];

export interface PanelQuery {
  readonly expr: string;
  /** The name of each series, with its labels as `{{label}}`. */
  readonly legend?: string;
}

export interface Panel {
  /** Now: one large number. Trend: lines over time. Bars: one bar for each series. Table: one line for each series. */
  readonly form: 'Now' | 'Trend' | 'Bars' | 'Table';
  readonly title: string;
  /** Tells what it counts, and what to do about a value that is not green. */
  readonly description: string;
  /** One of the list of Grafana. */
  readonly unit: string;
  readonly thresholds: Thresholds;
  readonly queries: readonly PanelQuery[];
  /** The dashboard with more of it. */
  readonly seeUid?: string;
  /** Words in place of numbers. */
  readonly words?: Readonly<Record<number, string>>;
}

export interface Row {
  readonly question: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Whether a person chooses clusters: what is of the hub has no such choice. */
  readonly hasClusters: boolean;
  readonly rows: readonly Row[];
}

/** Nothing of it is bad. */
export const NEUTRAL: Thresholds = ['text'];

/** More is worse. */
export function badFrom(orange: number, red?: number): Thresholds {
  return red === undefined ? ['green', [orange, 'red']] : ['green', [orange, 'orange'], [red, 'red']];
}

/** Less is worse. */
export function goodFrom(green: number, orange?: number): Thresholds {
  return orange === undefined ? ['red', [green, 'green']] : ['red', [orange, 'orange'], [green, 'green']];
}

type Text = Pick<Panel, 'title' | 'description'> &
  Partial<Pick<Panel, 'unit' | 'thresholds' | 'seeUid' | 'words'>>;

export function now(text: Text, expr: string): Panel {
  return { ...defaults(text), form: 'Now', queries: [{ expr }] };
}

export function trend(text: Text, ...queries: readonly PanelQuery[]): Panel {
  return { ...defaults(text), form: 'Trend', queries };
}

export function bars(text: Text, query: PanelQuery): Panel {
  return { ...defaults(text), form: 'Bars', queries: [query] };
}

export function table(text: Text, expr: string): Panel {
  return { ...defaults(text), form: 'Table', queries: [{ expr }] };
}

function defaults(text: Text): Text & Pick<Panel, 'unit' | 'thresholds'> {
  return { unit: 'short', thresholds: NEUTRAL, ...text };
}
