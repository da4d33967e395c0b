// Passes notices to a chat's incoming webhook: Slack, Mattermost, Rocket.Chat and others take `{text}`.
import { type RequestListener } from 'node:http';
import { noticeListener } from './notice-receiver';

/** Handles notices like `noticeListener`. Only this process knows `chatUrl`, which contains the chat's secret. */
export function chatListener(secret: string, chatUrl: string): RequestListener {
  return noticeListener(secret, async ({ type, data }) => {
    const { namespace: _namespace, taskQueue: _taskQueue, command, ...facts } = data;
    const next = typeof command === 'string' ? `\nNext: \`${command}\`` : '';
    const reply = await fetch(chatUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: `*${type}* ${JSON.stringify(facts)}${next}` }),
    });
    if (!reply.ok) throw new Error(`The chat answered with HTTP ${reply.status}.`);
  });
}
