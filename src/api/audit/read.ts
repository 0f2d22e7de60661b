/** Reads the audit record of all writers for people. */
import type { Client } from '../../kube/client/client.ts';
import { CONFIG_MAPS } from '../../kube/objects/core-kinds.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { LABEL_MANAGED_BY, MANAGED_BY, NAMESPACE_AUDIT } from '../names.ts';
import { type AuditLine, parseLines } from './lines.ts';
import {
  AUDIT_WRITERS,
  type AuditWriter,
  headName,
  missingParts,
  type PartId,
  parsePartName,
  partName,
} from './parts.ts';

export interface AuditRead {
  readonly lines: readonly AuditLine[];
  /** Names of ConfigMaps that are missing in the middle: somebody deleted them. */
  readonly missing: readonly string[];
  /** How many lines this version cannot read. */
  readonly unreadable: number;
}

/** A page of 2.5 MiB. */
const PAGE = 20;

/** Reads the whole record: at most 64 MiB. `isShown` keeps only what is asked for in memory. */
export async function readAuditRecord(
  client: Pick<Client, 'pages'>,
  isShown: (line: AuditLine) => boolean,
  signal?: AbortSignal,
): Promise<AuditRead> {
  const collector = createCollector(isShown);
  const labelSelector = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;
  const options = { namespace: NAMESPACE_AUDIT, labelSelector, limit: PAGE, ...(signal ? { signal } : {}) };
  for await (const { items } of client.pages(CONFIG_MAPS, options)) {
    for (const item of items) collector.add(item);
  }
  return collector.result();
}

interface Collector {
  add(object: KubeObject): void;
  result(): AuditRead;
}

function createCollector(isShown: (line: AuditLine) => boolean): Collector {
  const lines: AuditLine[] = [];
  const numbers = new Map<AuditWriter, number[]>();
  const newest = new Map<string, number>();
  let unreadable = 0;

  return {
    add(object) {
      const { name } = object.metadata;
      const part = parsePartName(name);
      if (part) addPart(part, textAt(object, 'data', 'lines') ?? '');
      else newest.set(name, Number(textAt(object, 'data', 'newest') ?? '0') || 0);
    },
    result: () => ({ lines: sortByTime(lines), missing: missingNames(numbers, newest), unreadable }),
  };

  function addPart({ writer, number }: PartId, text: string): void {
    numbers.set(writer, [...(numbers.get(writer) ?? []), number]);
    const parsed = parseLines(text);
    unreadable += parsed.unreadable;
    for (const line of parsed.lines.filter(isShown)) lines.push(line);
  }
}

function missingNames(
  numbers: ReadonlyMap<AuditWriter, readonly number[]>,
  newest: ReadonlyMap<string, number>,
): readonly string[] {
  return AUDIT_WRITERS.flatMap((writer) =>
    missingParts(numbers.get(writer) ?? [], newest.get(headName(writer))).map((number) =>
      partName(writer, number),
    ),
  );
}

/** Sorts the oldest line first. Lines of the same moment keep their order. */
function sortByTime(lines: readonly AuditLine[]): readonly AuditLine[] {
  return lines.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
