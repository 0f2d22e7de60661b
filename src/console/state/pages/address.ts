/** The addresses of the page: which page, with which filters, and which machine is open over it. Pure; runs in the page. */

import { GROUPINGS, type TileGrouping } from '../fleet.ts';
import { type HistoryRange, rangeOf } from '../history/ranges.ts';

export const PAGES = ['fleet', 'releases', 'rollouts', 'repairs', 'limits', 'health'] as const;
export type PageName = (typeof PAGES)[number];

/** The machines that a fleet shows: all, or those that change or are in trouble. */
export const SHOWN_MACHINES = ['changing', 'trouble'] as const;
export type ShownMachines = (typeof SHOWN_MACHINES)[number];

export interface PageFilters {
  /** Absent: grouped by zone. */
  readonly by?: TileGrouping;
  /** Absent: all machines. */
  readonly show?: ShownMachines;
  /** Absent: all clusters. */
  readonly cluster?: string;
  /** Absent: the last hour. */
  readonly range?: HistoryRange;
}

export interface PageRoute {
  readonly page: PageName;
  readonly filters: PageFilters;
  /** The key of the machine that is open over the page. */
  readonly machine?: string;
}

export const HOME: PageRoute = { page: 'fleet', filters: {} };

/** Returns the route of an address. A machine opens over the page that was shown `before`. An unknown address is the home page. */
export function routeOf(hash: string, before: PageRoute = HOME): PageRoute {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  const [first = '', ...names] = path.split('/').map(decodePart);
  const { page, filters } = before;
  if (first === 'machines' && names.length >= 2) return { page, filters, machine: names.join('/') };
  const found = PAGES.find((each) => each === first);
  return found ? { page: found, filters: filtersOf(new URLSearchParams(query)) } : HOME;
}

function filtersOf(query: URLSearchParams): PageFilters {
  const by = GROUPINGS.find((each) => each === query.get('by'));
  const show = SHOWN_MACHINES.find((each) => each === query.get('show'));
  const cluster = query.get('cluster') ?? '';
  const range = rangeOf(query.get('range'));
  return {
    ...(by && { by }),
    ...(show && { show }),
    ...(range && { range }),
    ...(cluster === '' ? {} : { cluster }),
  };
}

export function pageAddress(page: PageName, filters: PageFilters = {}): string {
  const query = new URLSearchParams(Object.entries(filters) as [string, string][]).toString();
  return `#/${page}${query === '' ? '' : `?${query}`}`;
}

/** Returns the address of a machine by its key, `<cluster>/<machine>`. */
export function machineAddress(key: string): string {
  return `#/machines/${key.split('/').map(encodeURIComponent).join('/')}`;
}

/** Decodes a part of a path. A person may type an address that does not decode: it stays as it is. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
