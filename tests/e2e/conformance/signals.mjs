// Tools that send messages before they answer: log messages, progress, changes; and a tool that can be cancelled.
import { setTimeout as pause } from 'node:timers/promises';
import { text } from './content.mjs';

let cancelled = 0;

export function addSignals(server, tell) {
  server.registerTool('test_tool_with_logging', { description: 'Logs three times while it works' }, async (ctx) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', words);
      await pause(50);
    }
    return text('Logged three times.');
  });
  server.registerTool('test_logging_tool', { description: 'Logs once' }, async (ctx) => {
    await ctx.mcpReq.log('info', 'A message for those who asked');
    return text('Logged once.');
  });
  server.registerTool('test_tool_with_progress', { description: 'Reports its progress' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await pause(50);
    }
    return text('Progress was reported.');
  });
  server.registerTool('slow', { description: 'Waits until it is cancelled' }, async (ctx) => {
    await pause(60_000, undefined, { signal: ctx.mcpReq.signal }).catch(() => { cancelled += 1; });
    return text('Waited.');
  });
  server.registerTool('count_cancelled', { description: 'How many calls were cancelled since it was last asked' }, async () => {
    const count = cancelled;
    cancelled = 0;
    return text(String(count));
  });
  for (const [name, change] of Object.entries({
    test_trigger_tool_change: () => tell.toolsChanged(),
    test_trigger_prompt_change: () => tell.promptsChanged(),
    touch_watched_resource: () => tell.resourceUpdated('test://watched-resource'),
  })) {
    server.registerTool(name, { description: `Announces a change (${name})` }, async () => {
      await change();
      return text('Announced.');
    });
  }
}
