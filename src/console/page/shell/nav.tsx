import type { JSX } from 'preact';
import { PAGES, type PageName, pageAddress } from '../../state/pages/address.ts';

export const PAGE_TITLES: Readonly<Record<PageName, string>> = {
  fleet: 'Fleet',
  releases: 'Releases',
  rollouts: 'Rollouts',
  repairs: 'Repairs',
  limits: 'Limits',
  health: 'Health',
};

export function Nav({ page }: { readonly page: PageName }): JSX.Element {
  return (
    <nav class="pages" aria-label="Pages">
      <ul>
        {PAGES.map((each) => (
          <li key={each}>
            <a href={pageAddress(each)} aria-current={each === page ? 'page' : undefined}>
              {PAGE_TITLES[each]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
