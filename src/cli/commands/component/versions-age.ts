/** Decides which selected versions are older than what their publishers list. Pure. */
import { byCode } from '../../../kube/objects/digest.ts';
import { CliError, EXIT } from '../../errors.ts';
import { CATALOG_NAMES } from './catalog/catalog.ts';
import { type NewerVersions, newerVersions } from './catalog/newer.ts';
import type { IndexAnswer } from './catalog/read-index.ts';
import type { FleetDeclarations } from './source/declarations.ts';
import { placeOfSelection } from './source/find.ts';

export interface ComponentAge {
  readonly component: string;
  readonly version: string;
  readonly state: 'Current' | 'Outdated' | 'Unknown' | 'NotTracked';
  readonly newer?: NewerVersions;
  readonly because?: string;
  /** The index that was read. */
  readonly index?: string;
}

/** Maps each component to its version, in the order of their names. */
export function selectedVersions(
  { selections }: FleetDeclarations,
  only: string | undefined,
): ReadonlyMap<string, string> {
  const all = selections.filter(({ component }) => only === undefined || component === only);
  if (all.length === 0) {
    throw new CliError(
      only === undefined
        ? 'the repository selects no versions: found no `const versions = { … }`'
        : `the repository selects no version of ${only}`,
      { hint: 'name the folder of the fleet repository with --repo', exitCode: EXIT.badInput },
    );
  }
  const versions = new Map<string, string>();
  for (const selection of all) {
    const { component, version } = selection;
    if (version === undefined || versions.has(component)) {
      throw new CliError(`expected one plain version of ${component}`, {
        where: placeOfSelection(selection),
        hint: `write ${component}: 'VERSION', once`,
        exitCode: EXIT.badInput,
      });
    }
    versions.set(component, version);
  }
  return new Map([...versions].toSorted(([a], [b]) => byCode(a, b)));
}

/** Without an answer the component has no publisher that is known. */
export function componentAge(
  component: string,
  version: string,
  answer: IndexAnswer | undefined,
): ComponentAge {
  if (answer === undefined) {
    const because = `not one of ${CATALOG_NAMES.join(', ')}`;
    return { component, version, state: 'NotTracked', because };
  }
  const { url: index, versions, unknown } = answer;
  if (versions === undefined) return { component, version, state: 'Unknown', because: unknown, index };
  const newer = newerVersions(version, versions);
  const state = Object.keys(newer).length > 0 ? 'Outdated' : 'Current';
  return { component, version, state, newer, index };
}
