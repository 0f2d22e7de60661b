import { describe, expect, it } from 'vitest';
import type { ArmApi, ArmRequest } from '../../../../src/providers/azure/api/client.ts';
import { listPages } from '../../../../src/providers/azure/api/pages.ts';
import { NEVER } from '../../contract/harness.ts';

const FIRST = { path: '/things', query: { 'api-version': '1' } } as const;

/** A server that answers each path with one page. */
function serve(pages: Readonly<Record<string, object>>): ArmApi & { readonly sent: readonly ArmRequest[] } {
  const sent: ArmRequest[] = [];
  return {
    sent,
    async send(request) {
      sent.push(request);
      return await Promise.resolve({ status: 200, headers: new Headers(), json: { ...pages[request.path] } });
    },
  };
}

describe('listPages', () => {
  it('follows the link of each page, which has the query already', async () => {
    const api = serve({
      '/things': { value: [1, 2], nextLink: '/things?page=2' },
      '/things?page=2': { value: [], nextLink: '/things?page=3' },
      '/things?page=3': { value: [3], nextLink: '' },
    });
    expect(await listPages(api, FIRST, NEVER)).toEqual([1, 2, 3]);
    expect(api.sent).toEqual([
      { method: 'GET', ...FIRST },
      { method: 'GET', path: '/things?page=2' },
      { method: 'GET', path: '/things?page=3' },
    ]);
  });

  it.each([
    ['a page without entries', { value: [1], nextLink: '/more' }, {}, 'the list of Azure has no entries'],
    ['a page with another value', { value: [1], nextLink: '/more' }, { value: {} }, 'has no entries'],
    ['pages that are a circle', { value: [1], nextLink: '/things' }, {}, 'the list of Azure does not end'],
  ])('returns no part of a list with %s', async (_, things, more, message) => {
    const listed = listPages(serve({ '/things': things, '/more': more }), FIRST, NEVER);
    await expect(listed).rejects.toMatchObject({ code: 'Retryable', reason: 'BadAnswer' });
    await expect(listed).rejects.toThrow(message);
  });
});
