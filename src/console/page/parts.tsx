/** What all sections show in the same way. */
import type { ComponentChildren, JSX } from 'preact';
import { elapsedText, momentText } from '../../api/elapsed.ts';
import { stateTone } from '../state/signs.ts';
import type { WhyLine } from '../state/state.ts';

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
