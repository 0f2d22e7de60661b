/** What all sections show in the same way. */
import type { ComponentChildren, JSX } from 'preact';
import { elapsedText, momentText } from '../../../api/elapsed.ts';
import { type PageName, pageAddress } from '../../state/pages/address.ts';
import { stateTone } from '../../state/signs.ts';
import type { WhyLine } from '../../state/state.ts';

export function Badge({ state }: { readonly state: string }): JSX.Element {
  return <span class={`badge ${stateTone(state)}`}>{state}</span>;
}

interface SinceProps {
  readonly since: number | string | undefined;
  readonly now: number;
}

/** The moment itself is shown where the pointer rests. */
export function Since({ since, now }: SinceProps): JSX.Element | null {
  const text = elapsedText(since, now);
  const moment = momentText(since);
  return text === '' ? null : (
    <time class="soft" dateTime={moment} title={moment}>
      for {text}
    </time>
  );
}

export function Ago({ at, now }: { readonly at: string; readonly now: number }): JSX.Element {
  const moment = momentText(at);
  return (
    <time dateTime={moment} title={moment}>
      {elapsedText(at, now)} ago
    </time>
  );
}

/** The sentence of a wait, and what ends it. */
export function Why({ why }: { readonly why: WhyLine }): JSX.Element {
  return (
    <>
      <p>
        <strong>{why.reason}</strong>: {why.because}
      </p>
      <Unblock text={why.unblock} />
    </>
  );
}

export function Unblock({ text }: { readonly text: string }): JSX.Element | null {
  return text === '' ? null : (
    <p class="unblock">
      Unblocks: <code>{text}</code>
    </p>
  );
}

interface SectionProps {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

export function Section({ id, title, children }: SectionProps): JSX.Element {
  return (
    <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}

/** A title of a page that a person does not need to see: the navigation shows it. */
export function Page({ id, title, children }: SectionProps): JSX.Element {
  return (
    <section id={id} class="page" aria-labelledby={`${id}-title`} tabIndex={-1}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}

const COUNT = new Intl.NumberFormat('en-US');

/** Formats a count with separators: `9,812`. */
export function countText(count: number): string {
  return COUNT.format(count);
}

/** An empty page, with the command that fills it. */
export function Empty({ text, command }: { readonly text: string; readonly command?: string }): JSX.Element {
  return (
    <div class="card empty">
      <p>{text}</p>
      {command !== undefined && (
        <p>
          <code>{command}</code>
        </p>
      )}
    </div>
  );
}

/** The filter by one cluster, and the way to all of them. */
export function Only(props: {
  readonly page: PageName;
  readonly cluster: string | undefined;
}): JSX.Element | null {
  const { page, cluster } = props;
  if (cluster === undefined) return null;
  return (
    <p>
      <a class="chip" href={pageAddress(page)}>
        {cluster} × <span class="hidden">Show all clusters</span>
      </a>
    </p>
  );
}
