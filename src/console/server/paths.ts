/** The paths of the console that have data of the fleet, and not files of the page. Pure. */

/** The stream of changes. */
export const EVENTS_PATH = '/events';
/** The first parts of the paths that a page reads on demand. */
export const DATA_NAMES = ['machines', 'events-of', 'why', 'history'] as const;
export type DataName = (typeof DATA_NAMES)[number];

export function isDataPath(url: string): boolean {
  const path = url.split('?')[0] ?? '';
  return (
    path === EVENTS_PATH || DATA_NAMES.some((name) => path === `/${name}` || path.startsWith(`/${name}/`))
  );
}
