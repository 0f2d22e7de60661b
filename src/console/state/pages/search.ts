/** Finds machines, clusters, sets, rules and commits by what a person types. Pure; runs in the page. */
import type { FleetGroups } from '../fleet.ts';
import type { ConsoleState } from '../state.ts';
import { machineAddress, PAGES, pageAddress } from './address.ts';

export interface SearchEntry {
  readonly kind: 'page' | 'cluster' | 'set' | 'rule' | 'commit' | 'machine';
  readonly title: string;
  /** The text that distinguishes it from others with the same title. */
  readonly hint: string;
  readonly address: string;
}

type Searched = Pick<ConsoleState, 'clusters' | 'rollouts' | 'repairs' | 'limits' | 'pipelines'>;

/** Lists everything that can be found. Kinds with few entries come first: they win over machines of the same name. */
export function searchEntries(state: Searched, { zones }: FleetGroups): readonly SearchEntry[] {
  const { clusters, rollouts, repairs, limits, pipelines } = state;
  const lines = Object.values(clusters);
  const commits = new Set([...Object.values(pipelines), ...lines].map(({ commit }) => commit));
  const rules = new Set(Object.values(repairs).map(({ rule }) => rule));
  const limitRules = new Set(Object.values(limits).map(({ policy, rule }) => `${policy}: ${rule}`));
  return [
    ...PAGES.map((page) => entry('page', page, '', pageAddress(page))),
    ...lines.map(({ name, stage, state: its }) =>
      entry('cluster', name, `${stage} ${its}`.trim(), pageAddress('fleet', { cluster: name })),
    ),
    ...Object.values(rollouts).map(({ cluster, set, phase }) =>
      entry('set', set, `${cluster} ${phase}`, pageAddress('rollouts', { cluster })),
    ),
    ...[...rules].map((rule) => entry('rule', rule, 'repairs', pageAddress('repairs'))),
    ...[...limitRules].map((rule) => entry('rule', rule, 'limits', pageAddress('limits'))),
    ...[...commits]
      .filter((each) => each.length > 1)
      .map((each) => entry('commit', each, '', pageAddress('releases'))),
    ...machineEntries(zones),
  ];
}

function machineEntries(zones: FleetGroups['zones']): readonly SearchEntry[] {
  return [...zones].flatMap(([cluster, groups]) =>
    groups.flatMap(({ blocks }) =>
      blocks
        .flat()
        .map(({ key, name, tile }) => entry('machine', name, `${cluster} ${tile.p}`, machineAddress(key))),
    ),
  );
}

function entry(kind: SearchEntry['kind'], title: string, hint: string, address: string): SearchEntry {
  return { kind, title, hint, address };
}

/** Returns the best matches: the title begins with the text, then contains it, then title and hint contain each of its words. */
export function searchFleet(
  entries: readonly SearchEntry[],
  text: string,
  limit: number,
): readonly SearchEntry[] {
  const query = text.trim().toLowerCase();
  if (query === '') return entries.slice(0, limit);
  const words = query.split(/\s+/);
  const ranked: SearchEntry[][] = [[], [], []];
  for (const each of entries) {
    const rank = rankOf(each, query, words);
    if (rank !== undefined && (ranked[rank]?.length ?? limit) < limit) ranked[rank]?.push(each);
  }
  return ranked.flat().slice(0, limit);
}

function rankOf(
  { kind, title, hint }: SearchEntry,
  query: string,
  words: readonly string[],
): number | undefined {
  const name = title.toLowerCase();
  if (name.startsWith(query)) return 0;
  if (name.includes(query)) return 1;
  const all = `${kind} ${name} ${hint.toLowerCase()}`;
  return words.every((word) => all.includes(word)) ? 2 : undefined;
}
