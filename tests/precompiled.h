#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../src/precompiled.h"
