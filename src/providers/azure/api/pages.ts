/** Reads lists of Azure Resource Manager, page by page. */
import { textAt, valueAt } from '../../../kube/objects/json.ts';
import { ProviderError } from '../../contract.ts';
import type { ArmApi } from './client.ts';

/** A resource group has fewer pages: a list that goes on longer refers to itself. */
const MAX_PAGES = 1000;

/** Returns the entries of all pages; rejects when one of them cannot be read. */
export async function listPages(
  api: ArmApi,
  first: { readonly path: string; readonly query: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  let next: Parameters<ArmApi['send']>[0] = { method: 'GET', ...first };
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { json } = await api.send(next, signal); // oxlint-disable-line no-await-in-loop -- each page names the next
    const entries = valueAt(json, 'value');
    if (!Array.isArray(entries)) throw badList('has no entries');
    all.push(...(entries as readonly unknown[]));
    const link = textAt(json, 'nextLink') ?? '';
    if (link === '') return all;
    next = { method: 'GET', path: link };
  }
  throw badList('does not end');
}

function badList(why: string): ProviderError {
  return new ProviderError('Retryable', `the list of Azure ${why}`, { reason: 'BadAnswer' });
}
